this term_t t; this string S; this int N;
inline term_t plan[term_t x] = erlget("plan", x);
inline int is_call[term_t x] = erlmatch(x, "{'$gen_call', _, {reserve, S, N}}");
BEGIN /is_call[erlmsg] && this->N > 3 || plan[erlarg(0)] == "gold"/
{
	this->t = erlelement(2, erlhd(erltl(erlargs)));
	this->u = this->N ? this->t : erlret;
	x = this->t; self->y = this->u; a[erlmsg, 1] = erlreason;
	@[this->t, erltype(this->u)] = quantize(this->u, erlarg(1));
	printf("%s %d %*d", erltext(this->t), this->u, erlsize(this->t), 1);
	trace(this->t == this->u || this->t != 5 || 7 < this->u || "a" == this->t);
	trace(erlmatch(erlarg(arg0), "#{k := [A | _], 1 := <<\"x\", B/binary>>} = C"));
	print(this->A); trace((int8_t)this->B + -this->C); trace(erlmsg[1]);
}
