package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// KeyBaseline is the key of a baseline beside a Plan, in the ConfigMap that carries both to a runner. It is missing
// where nothing is compared.
const KeyBaseline = "baseline.json.gz"

// baselineVersion is the kind and version of a baseline's document.
const baselineVersion = "linerate.dev/baseline.v1alpha1"

// mostBaseline is how many bytes a packed baseline may take, because the Report carries it beside the Plan and the
// measurement.
const mostBaseline = MaxPacked / 6

type baselineDocument struct {
	Version  string          `json:"version"`
	Baseline report.Baseline `json:"baseline"`
}

// EncodeBaseline packs a baseline for a runner. An error says that it is too large for the ConfigMap.
func EncodeBaseline(b report.Baseline) ([]byte, error) {
	document, err := json.Marshal(baselineDocument{baselineVersion, b})
	if err != nil {
		return nil, fmt.Errorf("encode baseline: %w", err)
	}
	packed, err := pack(document)
	if err != nil {
		return nil, fmt.Errorf("pack baseline: %w", err)
	}
	if len(packed) > mostBaseline {
		return nil, fmt.Errorf("its %d runs take %d bytes packed, and %d is what fits beside a plan: use fewer runs",
			len(b.Runs), len(packed), mostBaseline)
	}
	return packed, nil
}

// ReadBaseline reads what EncodeBaseline wrote, in a directory that the ConfigMap is mounted at. It is nil where
// there is none.
func ReadBaseline(dir fs.FS) (*report.Baseline, error) {
	packed, err := intake.TextFileOf(dir, KeyBaseline, MaxPacked)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // there is no baseline, which is no error
	}
	if err != nil {
		return nil, err
	}
	var out baselineDocument
	document, err := unpack(packed)
	if err == nil {
		err = decode(document, &out, baselineVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", KeyBaseline, err)
	}
	return &out.Baseline, nil
}
