package cli

import (
	"cmp"
	"slices"
	"strings"
)

// publishedFlags replaces the two-letter flags of the published loadtest script (-wm -wd -rt -rd -hd, as in
// "-wm 1kpps" or "-wm=1kpps") by long flags, since the flag library knows only single letters.
func publishedFlags(args []string) []string {
	if len(args) == 0 || args[0] != "ramp" {
		return args
	}
	long := map[string]string{
		"-wm": "--warmup_mult", "-wd": "--warmup_duration", "-rt": "--rampup_target", "-rd": "--rampup_duration",
		"-hd": "--hold_duration",
	}
	args = slices.Clone(args)
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		args[i] = cmp.Or(long[name], name)
		if hasValue {
			args[i] += "=" + value
		}
	}
	return args
}
