package procedure

import "github.com/linerate-dev/linerate/internal/document/report"

// Traits are what the rest of linerate asks of a procedure without knowing which one it is.
type Traits struct {
	// FindsThroughput means that the procedure searches for the highest load at which no more is lost than is allowed,
	// and FindsLossOverLoad that it measures what is lost of each of several loads (RFC 2544, sections 26.1 and 26.3).
	FindsThroughput, FindsLossOverLoad bool
	// FindsLoadOfLoss means that the procedure finds the load of a given loss, so that no loss is found of a load.
	FindsLoadOfLoss bool
	// TriesAfterPauses means that the load is found by trials, each of which begins after a pause.
	TriesAfterPauses bool
	// NamesLoss means that the procedure's Description says which loss is asked about, whatever the Plan allows.
	NamesLoss bool
	// HoldsLoad means that one load is held, and SendsTrials that each load is tried by traffic that ends by itself.
	HoldsLoad, SendsTrials bool
	// GivesLoad means that the load is given, so that the figures are of what came back of it, whatever was lost.
	GivesLoad bool
	// SendsBursts means that the procedure sends bursts of an exact number of frames, and waits for all that the
	// device holds of them.
	SendsBursts bool
	// SendsTrains means that the procedure times trains of frames, so that its answer has no load.
	SendsTrains bool
	// Finds are the metrics of the directions' own figures (report.Direction.Own).
	Finds []report.Metric
}
