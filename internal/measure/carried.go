package measure

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// rounding is the part of a share by which rates in whole bits and frames per second may differ, and no more, as
// frames of one size lose the same share of both.
const rounding = 10_000

// Carried is the share of a direction's offered load that came back, by frames or by bits, whichever is less. A
// device that counts bytes, as most policers do, rather drops large frames. Of a mix a twentieth above its rate it
// drops one frame in a hundred, and a twentieth of the bits.
func Carried(d report.Direction) units.Ratio {
	carried := CarriedFrames(d)
	if d.LossRatio <= 0 || d.Offered.Layer2BitsPerSecond <= 0 {
		return carried
	}
	if byBits := units.RatioOf(d.Received.Layer2BitsPerSecond,
		d.Offered.Layer2BitsPerSecond); byBits < carried-carried/rounding {
		return byBits
	}
	return carried
}

// CarriedFrames is the share of a direction's offered frames that came back.
func CarriedFrames(d report.Direction) units.Ratio {
	return units.One - max(0, min(d.LossRatio, units.One))
}
