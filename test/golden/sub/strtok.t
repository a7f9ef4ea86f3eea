# strtok(): the first call names the text, NULL goes on; leading separators are skipped
< t.d
| BEGIN
| {
| 	printf("%s ", strtok(",,a,b;c,", ",;"));
| 	printf("%s ", strtok(NULL, ",;"));
| 	printf("%s ", strtok(NULL, ",;"));
| 	printf("%d\n", strtok(NULL, ",;") == NULL);
| }
| /* it goes on in the next clause of the firing */
| BEGIN
| {
| 	this->x = strtok("one two three", " ");
| }
| BEGIN
| {
| 	this->y = strtok(NULL, " ");
| 	printf("%s %s\n", this->x, this->y);
| 	printf("%d %d\n", strtok("", ",") == NULL, strtok(",,,", ",") == NULL);
| 	/* other separators from call to call; none at all */
| 	printf("%s ", strtok("k=v;w", "="));
| 	printf("%s ", strtok(NULL, ";"));
| 	printf("%s\n", strtok("whole text", ""));
| 	exit(0);
| }
$ erltrace -qs t.d
> a b c 1
> one two
> 1 1
> k =v whole text
>
