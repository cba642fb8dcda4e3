package softgen

import (
	"strconv"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// real is a floating-point number as TRex's JSON writer prints it.
type real = wire.Float

// plain prints a number for a person, with six significant digits and no trailing zeros.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
