# strtok(NULL, ...) goes on at the delimiter that ended the last token: it is one only if it is still in the set
$ erltrace -qn 'BEGIN { printf("[%s]", strtok("key=value;next:last", "=")); printf("[%s]", strtok(NULL, ";")); printf("[%s]", strtok(NULL, ":;")); printf("[%s]", strtok(NULL, ";")); printf("[%d]\n", strtok(NULL, ";") == NULL); exit(0); }'
> [key][=value][next][:last][1]
>
$ erltrace -xjit=off -qn 'BEGIN { printf("[%s]", strtok("a,,b", ",")); printf("[%s]", strtok(NULL, "b")); printf("[%s]\n", strtok(NULL, ",")); exit(0); }'
> [a][,,][b]
>
