package compile

import (
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// durationLimits are the shortest and the longest duration that each field of a spec may have. A field has the same
// limits in each entry of a list.
var durationLimits = map[string][2]v1alpha1.Duration{
	"activeDeadline":     {"10s", "168h"},
	"schedulingDeadline": {"10s", "8760h"},
	"ttlAfterFinished":   {"0s", "8760h"},

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

	"procedure.soak.warmupDuration":     {"0s", "1h"},
	"procedure.soak.duration":           {"1s", "168h"},
	"procedure.soak.firstTrialDuration": {"1s", "1h"},
	"procedure.soak.trialGrowth":        {"0s", "1h"},
}

// DurationLimits are the shortest and the longest duration of each field, for documentation.
func DurationLimits() map[string][2]v1alpha1.Duration { return maps.Clone(durationLimits) }

// checkLimits refuses each field that is out of its limits. The schema has only the notation of such fields.
func (r *refusals) checkLimits(spec *v1alpha1.LoadTestSpec) {
	eachField(reflect.ValueOf(spec).Elem(), specPath(), "", func(path *field.Path, name string, value any) {
		if text, ok := value.(v1alpha1.Duration); ok && text != "" {
			r.checkDuration(path, name, text)
		}
	})
}

func (r *refusals) checkDuration(path *field.Path, name string, text v1alpha1.Duration) {
	span, shortest, longest := r.duration(path, text), spanOf(durationLimits[name][0]), spanOf(durationLimits[name][1])
	switch field := name[strings.LastIndexByte(name, '.')+1:]; {
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
