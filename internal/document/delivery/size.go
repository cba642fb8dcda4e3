package delivery

import "github.com/linerate-dev/linerate/internal/document/intake"

// These are the bounds of documents. A ConfigMap holds 1 MiB, its name and annotations included (Kubernetes,
// "ConfigMaps"). A packed document of that size can still fill memory, as 66 kB unpack to 64 MB of "{},{},{},",
// each of which becomes a window when it is decoded. So a document has three bounds, and a writer drops detail
// until the document meets all three:
//
//	packed ──▶ bytes, unpacked ──▶ elements of lists, decoded
//	900 KiB    32 MiB              100 000                       a Report that fills a ConfigMap has some 6 MB and 30 000
//	           16 MiB               30 000                       a sheet of a suite's runs: one of 256 KiB, packed, has some 3 MB and 10 000
const (
	MaxPacked       = 900 << 10
	maxUnpacked     = 32 << 20
	mostElements    = 100_000
	maxRunsUnpacked = 16 << 20
	mostRunElements = 30_000
)

// This is the most memory that an element of a list takes, decoded, with all that is in it but other lists'
// elements and text. It holds for a Report's elements, and for a suite's runs, which have as much of a Report as a
// judgement needs.
const (
	elementBytes    = 76 << 5
	runElementBytes = 13 << 9
)

var (
	ofDocument = intake.Limits{Bytes: maxUnpacked, Elements: mostElements}
	// A sheet has its runs by their names, in an object of the outermost one.
	ofRuns = intake.Limits{Bytes: maxRunsUnpacked, Elements: mostRunElements, Entries: 2}
)

// Size is how large a document is once it is unpacked.
type Size struct {
	Bytes int64
	// Elements is the number of elements of all its lists together and, of a sheet, of its runs.
	Elements int64
}

// Memory is the most bytes that a Report of this size takes while it is decoded, with its text, what is kept of
// that, and its elements.
func (s Size) Memory() int64 { return 2*s.Bytes + s.Elements*elementBytes }

// runsMemory is the most bytes that a sheet of this size takes while it is decoded, with its text, what is kept of
// that, and its elements.
func (s Size) runsMemory() int64 { return 2*s.Bytes + s.Elements*runElementBytes }

// sized is what this package says of a measured document.
func sized(measured intake.Size, err error) (Size, error) {
	return Size{Bytes: measured.Bytes, Elements: measured.Elements}, err
}

// Measure is the size of a document that isn't packed. Its error says which bound of a Report's it exceeds.
func Measure(document []byte) (Size, error) { return sized(intake.Measure(document, ofDocument, nil)) }

// SizeOf measures a packed Report without keeping any of it, and refuses one that is cut off, carries more behind
// its end, or exceeds a bound.
func SizeOf(packed []byte) (Size, error) { return sized(intake.SizeOf(packed, ofDocument)) }
