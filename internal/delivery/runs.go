package delivery

import "fmt"

// KeyRuns is the key of a page of a suite's runs in its ConfigMap.
const KeyRuns = "runs.json.gz"

// EncodeRuns is the binary data of the ConfigMap for a page of a suite's runs. Its error says that the page is too large for one.
func EncodeRuns(document []byte) (map[string][]byte, error) {
	packed, err := packUpTo(document, mostRunElements)
	if err != nil {
		return nil, fmt.Errorf("pack runs: %w", err)
	}
	if len(packed) > MaxPacked {
		return nil, fmt.Errorf("the runs take %d bytes packed, and a ConfigMap takes %d", len(packed), MaxPacked)
	}
	return map[string][]byte{KeyRuns: packed}, nil
}

// DecodeRuns reads what EncodeRuns wrote, and refuses another version.
func DecodeRuns(data map[string][]byte, version string, into any) error {
	document, err := unpackUpTo(data[KeyRuns], mostRunElements)
	if err == nil {
		err = decode(document, into, version)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", KeyRuns, err)
	}
	return nil
}
