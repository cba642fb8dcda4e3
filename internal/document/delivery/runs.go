package delivery

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// KeyRuns is the key of a sheet of a suite's runs in its ConfigMap.
const KeyRuns = "runs.json.gz"

// EncodeRuns is the binary data of the ConfigMap for a sheet of a suite's runs. Its error says that the sheet is too
// large for one.
func EncodeRuns(document []byte) (map[string][]byte, error) {
	packed, err := packWithin(document, ofRuns)
	if err != nil {
		return nil, fmt.Errorf("pack runs: %w", err)
	}
	if len(packed) > MaxPacked {
		return nil, fmt.Errorf("the runs take %d bytes packed, and a ConfigMap takes %d", len(packed), MaxPacked)
	}
	return map[string][]byte{KeyRuns: packed}, nil
}

// RunsMemory is the most bytes of memory that DecodeRuns takes, found out without decoding. DecodeRuns would return
// the same error.
func RunsMemory(data map[string][]byte) (int64, error) {
	size, err := sized(intake.SizeOf(data[KeyRuns], ofRuns))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", KeyRuns, err)
	}
	return size.runsMemory(), nil
}

// DecodeRuns reads what EncodeRuns wrote. It refuses other versions and, before it allocates memory, data that
// exceeds a bound.
func DecodeRuns(data map[string][]byte, version string, target any) error {
	document, err := intake.Unpack(data[KeyRuns], ofRuns)
	if err == nil {
		err = decodeRuns(document, version, target)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", KeyRuns, err)
	}
	return nil
}

// decodeRuns is decode without a copy of the whole document.
func decodeRuns(document []byte, version string, target any) error {
	var head struct {
		Version string `json:"version"`
	}
	if err := intake.JSON(document, &head, ofRuns); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if head.Version != version {
		return fmt.Errorf("version is %q, and this linerate reads %q", head.Version, version)
	}
	return intake.JSON(document, target, ofRuns)
}
