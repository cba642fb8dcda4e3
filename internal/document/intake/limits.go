package intake

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Limits are the most that a document may have. Zero doesn't bound, but for Depth.
type Limits struct {
	// Bytes are those of the text, unpacked.
	Bytes int64
	// Memory is how many bytes the decoded document may take.
	Memory int64
	// Elements are those of all lists together.
	Elements int64
	// Entries is the nesting depth of objects whose members, of whatever names, count as elements, or 0 for none.
	Entries int
	// Depth is how many lists and objects may be in each other, or 0 for 64. linerate's documents have a dozen
	// levels.
	Depth int
}

// deepest is the depth that may be where no other is given.
const deepest = 64

// Small are the limits of a document of a few lines, such as an annotation, a termination message, or a list of
// interfaces.
var Small = Limits{Bytes: 1 << 20, Memory: 16 << 20}

// Exceeded is the error of an input that has more than it may. It says in words which bound, and what to do.
type Exceeded string

func (e Exceeded) Error() string { return string(e) }

func tooManyBytes(limit int64) error {
	return Exceeded(fmt.Sprintf("it unpacks to more than %s, which no document of linerate's does: give what linerate wrote", mebibytes(limit)))
}

func tooManyElements(limit int64) error {
	return Exceeded(fmt.Sprintf("its lists have more than %d elements together, which no document of linerate's does: give what linerate wrote", limit))
}

func tooDeep(limit int) error {
	return Exceeded(fmt.Sprintf("it is nested more than %d deep, which no document of linerate's is: give what linerate wrote", limit))
}

func twice(name string) error {
	return Exceeded(fmt.Sprintf("an object in it has two members %s, of which readers may take one or the other: give it once", wording.Limited(fmt.Sprintf("%q", name), 80)))
}

func tooHeavy(limit, bytes int64) error {
	return Exceeded(fmt.Sprintf("its first %s bytes take more than %s of memory once they are decoded, which no document of linerate's does: give what linerate wrote",
		wording.Count(bytes), mebibytes(limit)))
}

// mebibytes is a bound in MiB, or in bytes where it has no whole MiB.
func mebibytes(bytes int64) string {
	if bytes%(1<<20) != 0 {
		return wording.Count(bytes) + " bytes"
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
