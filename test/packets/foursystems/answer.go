package foursystems

import "slices"

// Answer is what a cell must come to.
type Answer struct {
	Cell, Product, Loadtest string
	// PacketsPerSecond and Layer1BitsPerSecond are of both directions together.
	PacketsPerSecond, Layer1BitsPerSecond float64
	// LineRate: the links are full before the device is, so that its limit lies there or above.
	LineRate bool
}

const (
	// lineRate is each link's, in bits per second, and directions are how many there are.
	lineRate   = 40_000_000
	directions = 2
	// overhead is what a frame takes of a link in addition to its bytes: preamble, start of frame and gap (IEEE 802.3).
	overhead = 20
)

// Answers are those of all cells, in the order of the table.
func Answers() (list []Answer) {
	products := []struct {
		name  string
		limit float64 // packets per second and direction, as in the file
	}{{"linux", 3000}, {"openbsd", 2900}, {"vpp", 35_600}, {"danos", 46_000}}
	loadtests := []struct {
		name  string
		bytes float64 // of a frame, on average
	}{{"imix", (7*64 + 4*594 + 1518) / 12.0}, {"64b", 64}}
	for _, l := range loadtests {
		bits := (l.bytes + overhead) * 8
		maximum := lineRate / bits
		for _, p := range products {
			rate := directions * min(p.limit, maximum)
			list = append(list, Answer{Cell: p.name + "-" + l.name, Product: p.name, Loadtest: l.name,
				PacketsPerSecond: rate, Layer1BitsPerSecond: rate * bits, LineRate: p.limit >= maximum})
		}
	}
	return list
}

// answersOf are those of some cells; of none: of all.
func answersOf(cells []string) (list []Answer) {
	for _, a := range Answers() {
		if len(cells) == 0 || slices.Contains(cells, a.Cell) {
			list = append(list, a)
		}
	}
	return list
}
