int a[int], b[int], c[int];
BEGIN{x=((((((((((1))))))))));y=a[b[c[1]]];z=*(int**)&*(char*)0;}