package compile

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units"
)

// durationForms is how a duration can be written.
const durationForms = "write a duration with its unit, such as 500ms, 30s, 10m or 1h30m"

func (r *refusals) duration(path *field.Path, d v1alpha1.Duration) time.Duration {
	span, err := d.Std()
	if err != nil {
		r.refuse(path, d, durationForms)
	}
	return span
}

func (r *refusals) share(path *field.Path, text v1alpha1.Share) units.Ratio {
	share, err := units.ParseShare(string(text))
	if err != nil {
		r.refuse(path, text, err.Error())
	}
	return share
}

// lineRate is a link's line rate, and 0 where none is given.
func (r *refusals) lineRate(path *field.Path, text v1alpha1.BitRate) units.BitRate {
	if text == "" {
		return 0
	}
	rate, err := units.ParseBitRate(string(text))
	if err != nil {
		r.refuse(path, text, err.Error())
	}
	return rate
}
