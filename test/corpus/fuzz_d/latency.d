tick-10ms { sent[copyinstr(arg1)] = timestamp }
tick-20ms / sent[copyinstr(arg0)] / { @t = quantize(timestamp - sent[copyinstr(arg0)]); sent[copyinstr(arg0)] = 0 }
