package compile

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units"
)

// durationLimits are the shortest and the longest duration that each field of a spec may have. A field has the same
// limits in each entry of a list.
var durationLimits = map[string][2]v1alpha1.Duration{
	"activeDeadline":     {"10s", "168h"},
	"schedulingDeadline": {"10s", "8760h"},
	"ttlAfterFinished":   {"0s", "8760h"},

	"dut.collect.timeout":       {"1s", "10m"},
	"dut.readyDelay":            {"0s", "1h"},
	"dut.setup.deadline":        {"1s", "24h"},
	"dut.teardown.deadline":     {"1s", "24h"},
	"dut.reference.limit.burst": {"1ms", "1s"},
	"dut.reference.limit.queue": {"1ms", "1s"},

	"observers.interval":      {"1s", "5m"},
	"observers.averagingTime": {"0s", "1h"},

	"procedure.reset.timeout":         {"1s", "1h"},
	"procedure.latency.trialDuration": {"1s", "1h"},

	"procedure.ramp.warmupDuration":  {"0s", "24h"},
	"procedure.ramp.rampDuration":    {"1s", "24h"},
	"procedure.ramp.stepDuration":    {"200ms", "1h"},
	"procedure.ramp.settleDuration":  {"0s", "1m"},
	"procedure.ramp.confirmDuration": {"0s", "24h"},
	"procedure.ramp.holdDuration":    {"0s", "24h"},

	"procedure.constantLoad.warmupDuration": {"0s", "1h"},
	"procedure.constantLoad.duration":       {"1s", "168h"},
	"procedure.constantLoad.window":         {"1s", "168h"},

	"procedure.frameLoss.warmupDuration": {"0s", "1h"},
	"procedure.frameLoss.trialDuration":  {"1s", "1h"},

	"procedure.maximumOfferedLoad.warmupDuration": {"0s", "1h"},
	"procedure.maximumOfferedLoad.trialDuration":  {"1s", "1h"},

	"procedure.search.warmupDuration":           {"0s", "1h"},
	"procedure.search.goals.finalTrialDuration": {"1s", "1h"},
	"procedure.search.goals.durationSum":        {"1s", "1h"},

	"procedure.backToBack.warmupDuration":   {"0s", "1h"},
	"procedure.backToBack.trialDuration":    {"1s", "1h"},
	"procedure.backToBack.maxBurstDuration": {"1ms", "1m"},

	"procedure.trains.pause": {"0.05ms", "100ms"},

	"procedure.soak.warmupDuration":     {"0s", "1h"},
	"procedure.soak.duration":           {"1s", "168h"},
	"procedure.soak.firstTrialDuration": {"1s", "1h"},
	"procedure.soak.trialGrowth":        {"0s", "1h"},
}

// shareLimits are the lowest and the highest share that a field may have, and what the field must be in words. A share
// of nothing is allowed beside them where zero is.
var shareLimits = map[string]struct {
	lowest, highest v1alpha1.Share
	zero            bool
	words           string
}{
	"procedure.ramp.precision":           {"0.01%", "50%", true, "between 0.01% and 50%, or 0% for no refinement"},
	"procedure.backToBack.resolution":    {"0.01%", "50%", false, "between 0.01% and 50%"},
	"procedure.search.goals.width":       {"0.05%", "50%", false, "between 0.05% and 50%"},
	"procedure.search.goals.exceedRatio": {"0%", "99.9999999%", false, "less than 100%: else any load meets the goal"},
	"procedure.soak.lossRatio":           {"0.0000001%", "10%", false, "above 0% and at most 10%"},
}

func (r *refusals) checkShare(path *field.Path, name string, text v1alpha1.Share) {
	limits, limited := shareLimits[name]
	share, valid := readShare(text)
	lowest, _ := readShare(limits.lowest)
	highest, _ := readShare(limits.highest)
	r.refuseIf(limited && valid && (share < lowest || share > highest) && (share != 0 || !limits.zero), path, text,
		lastOf(name)+" must be "+limits.words)
}

// readShare is a share's value, where it can be read.
func readShare(text v1alpha1.Share) (units.Ratio, bool) {
	share, err := units.ParseShare(string(text))
	return share, err == nil
}

func lastOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// DurationLimits are the shortest and the longest duration of each field, for documentation.
func DurationLimits() map[string][2]v1alpha1.Duration { return maps.Clone(durationLimits) }

// ShareLimits are what each share must be, in words, for documentation.
func ShareLimits() map[string]string {
	words := map[string]string{}
	for name, limits := range shareLimits {
		words[name] = limits.words
	}
	return words
}

// checkLimits refuses each field that is out of its limits. The schema has only the notation of such fields.
func (r *refusals) checkLimits(spec *v1alpha1.LoadTestSpec) {
	eachField(reflect.ValueOf(spec).Elem(), specPath(), "", func(path *field.Path, name string, value any) {
		text := fmt.Sprint(value)
		if text == "" {
			return
		}
		switch value := value.(type) {
		case v1alpha1.Duration:
			r.checkDuration(path, name, value)
		case v1alpha1.Share:
			r.checkShare(path, name, value)
		case v1alpha1.Rate, v1alpha1.HeldRate, v1alpha1.BitRate:
			r.refuseIf(isZero(text), path, text,
				"write a rate above 0, such as 10kpps, 1gbps or 95%")
		case v1alpha1.Address:
			_, err := netip.ParsePrefix(text)
			r.refuseIf(err != nil, path, text, addressForm)
		case v1alpha1.Network:
			network, err := netip.ParsePrefix(text)
			r.refuseIf(err != nil || network.Masked() != network, path, text, networkForm)
		case v1alpha1.LinkName:
			r.refuseIf(slices.Contains(kernelNames, text), path, text, "lo, all, default and eth0 already mean something to "+
				"the kernel or in a pod: choose another name, such as west")
		default:
		}
	})
}

// isZero says that a number with a unit is 0.
func isZero(text string) bool {
	rest := strings.TrimLeft(text, "0.")
	return rest != text && (rest == "" || !strings.ContainsRune("123456789", rune(rest[0])))
}

const (
	addressForm = "write an address with its prefix length, such as 198.18.0.2/24 or 2001:2::2/64"
	networkForm = "write a network as its first address with the prefix length, such as 16.0.0.0/24 or 2001:2:0:100::/64"
)

// kernelNames are interfaces, or their settings, on any machine or in any pod.
var kernelNames = []string{"lo", "all", "default", "eth0"}

func (r *refusals) checkDuration(path *field.Path, name string, text v1alpha1.Duration) {
	span, shortest, longest := r.duration(path, text), spanOf(durationLimits[name][0]), spanOf(durationLimits[name][1])
	switch field := lastOf(name); {
	case longest == 0 || span >= shortest && span <= longest:
	case shortest == 0:
		r.refusef(path, text, "%s must be at most %s", field, durationLimits[name][1])
	default:
		r.refusef(path, text, "%s must be between %s and %s", field, durationLimits[name][0], durationLimits[name][1])
	}
}

// eachField calls visit with each scalar field below v, which stands at the path. The name is the path below the spec,
// without places in lists.
func eachField(v reflect.Value, path *field.Path, name string, visit func(*field.Path, string, any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachField(v.Elem(), path, name, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), path.Index(i), name, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			member, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			eachField(v.Field(i), path.Child(member), strings.TrimPrefix(name+"."+member, "."), visit)
		}
	default:
		visit(path, name, v.Interface())
	}
}
