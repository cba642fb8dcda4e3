package cli

import "strings"

// publishedFlags turns the two-letter flags of the published loadtest script (-wm -wd -rt -rd -hd, as in "-wm 1kpps" or "-wm=1kpps") into
// their long forms: the flag library knows single letters only.
func publishedFlags(args []string) []string {
	if len(args) == 0 || args[0] != "ramp" {
		return args
	}
	long := map[string]string{"-wm": "--warmup_mult", "-wd": "--warmup_duration", "-rt": "--rampup_target", "-rd": "--rampup_duration", "-hd": "--hold_duration"}
	out := make([]string, len(args))
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		if l, known := long[name]; known {
			name = l
		}
		out[i] = name
		if hasValue {
			out[i] += "=" + value
		}
	}
	return out
}
