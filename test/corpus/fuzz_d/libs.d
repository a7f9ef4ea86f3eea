#pragma D attributes Stable/Stable/Common x
#pragma D depends_on provider dtrace
#line 7 "other.d"
BEGIN { trace(curpsinfo->pr_fname); trace(SIGKILL + ENOENT); trace(arg0 ? "y" : NULL); raise(9); }
