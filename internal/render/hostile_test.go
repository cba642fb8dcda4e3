package render

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// filled sets every number in a value, as deep as it goes, and leaves what is a time, so that the document stays a
// possible one.
func filled(v reflect.Value, whole int64, float float64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			filled(v.Elem(), whole, float)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				filled(v.Field(i), whole, float)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			filled(v.Index(i), whole, float)
		}
	case reflect.Int64:
		v.SetInt(whole)
	case reflect.Float64:
		v.SetFloat(float)
	default:
	}
}

func TestNoNumberBreaksAFormat(t *testing.T) {
	for name, c := range map[string]struct {
		whole int64
		float float64
	}{
		"zero":          {0, 0},
		"one":           {1, 1},
		"minus one":     {-1, -1},
		"the largest":   {math.MaxInt64, math.MaxFloat64},
		"the smallest":  {math.MinInt64, -math.MaxFloat64},
		"the tiniest":   {2, math.SmallestNonzeroFloat64},
		"a long second": {int64(1000 * time.Hour), 100},
	} {
		for _, s := range reporttest.Scenarios() {
			t.Run(name+", "+s.Name, func(t *testing.T) {
				r := s.Report
				r.Plan.Links = nil // prefixes can't be filled
				filled(reflect.ValueOf(r), c.whole, c.float)
				for _, format := range Formats(Tests) {
					var out bytes.Buffer
					if err := Write(&out, format, OfReports(r), TextOptions{}); err != nil && format != "viz" {
						t.Errorf("%s: %v", format, err)
					}
					for _, bad := range []string{"NaN", "+Inf", "-Inf", "%!"} {
						if strings.Contains(out.String(), bad) {
							t.Errorf("%s holds %s", format, bad)
						}
					}
				}
			})
		}
	}
}
