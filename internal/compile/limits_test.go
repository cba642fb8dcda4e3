package compile

import (
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units"
)

// whole is a value of the type with one entry in each list, and nothing nil.
func whole(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(whole(t.Elem()).Addr())
	case reflect.Slice:
		v.Set(reflect.Append(v, whole(t.Elem())))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(whole(t.Field(i).Type))
			}
		}
	default: // another value may be zero
	}
	return v
}

func TestEachDurationOfASpecHasLimits(t *testing.T) {
	var durations []string
	eachField(whole(reflect.TypeFor[v1alpha1.LoadTestSpec]()), specPath(), "", func(_ *field.Path, name string, value any) {
		if _, ok := value.(v1alpha1.Duration); !ok {
			return
		}
		durations = append(durations, name)
		if limits, found := durationLimits[name]; !found || spanOf(limits[1]) <= spanOf(limits[0]) {
			t.Errorf("%s has the limits %v", name, limits)
		}
	})
	for name := range durationLimits {
		if !slices.Contains(durations, name) {
			t.Errorf("there are limits of %s, which is no duration of a spec", name)
		}
	}
}

func TestAShareOutOfItsLimitsIsRefused(t *testing.T) {
	shares := map[string]bool{}
	eachField(whole(reflect.TypeFor[v1alpha1.LoadTestSpec]()), specPath(), "", func(_ *field.Path, name string, value any) {
		_, isShare := value.(v1alpha1.Share)
		shares[name] = isShare
	})
	for name, limits := range shareLimits {
		if !shares[name] {
			t.Errorf("%s has limits, and is no share of a spec", name)
		}
		lowest, known := readShare(limits.lowest)
		highest, knownToo := readShare(limits.highest)
		if !known || !knownToo || lowest >= highest {
			t.Errorf("%s is between %s and %s", name, limits.lowest, limits.highest)
		}
		for share, taken := range map[units.Ratio]bool{
			lowest: true, highest: true, highest + 1: false, 0: limits.zero || lowest == 0,
		} {
			r := &refusals{}
			r.checkShare(specPath(), name, v1alpha1.Share(share.Percent().String()+"%"))
			if (len(r.errs) == 0) != taken {
				t.Errorf("%s of %s is taken: %v, want %v", name, share.Percent(), !taken, taken)
			}
		}
	}
}

func TestADurationOutOfItsLimitsIsRefused(t *testing.T) {
	for _, c := range []struct {
		ramp v1alpha1.RampSpec
		want string
	}{
		{ramp: v1alpha1.RampSpec{StepDuration: "200ms", SettleDuration: "0s", RampDuration: "24h"}},
		{ramp: v1alpha1.RampSpec{StepDuration: "1h", SettleDuration: "1m", RampDuration: "1s"}},
		{v1alpha1.RampSpec{StepDuration: "199ms"}, `spec.procedure.ramp.stepDuration: Invalid value: "199ms": ` +
			`stepDuration must be between 200ms and 1h`},
		{v1alpha1.RampSpec{StepDuration: "1h1ms"}, `spec.procedure.ramp.stepDuration: Invalid value: "1h1ms": ` +
			`stepDuration must be between 200ms and 1h`},
		{v1alpha1.RampSpec{SettleDuration: "61s"}, `spec.procedure.ramp.settleDuration: Invalid value: "61s": ` +
			`settleDuration must be at most 1m`},
	} {
		r := &refusals{}
		r.checkLimits(&v1alpha1.LoadTestSpec{Procedure: v1alpha1.ProcedureSpec{Ramp: c.ramp}})
		if got := r.errs.ToAggregate(); (got == nil) != (c.want == "") || got != nil && got.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.ramp, got, c.want)
		}
	}
}
