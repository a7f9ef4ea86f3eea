#include "flow_post.h"
#include <stddef.h>
struct flow_post *flow_post_open(const char *url){(void)url; return NULL;}
void flow_post_add(struct flow_post *p, const struct flows *s, const struct flow *f){(void)p,(void)s,(void)f;}
void flow_post_look(struct flow_post *p, int64_t now_ms){(void)p;(void)now_ms;}
int flow_post_close(struct flow_post *p){(void)p;return 0;}
