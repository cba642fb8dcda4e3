package delivery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decode reads one document of the version, and nothing else: a member that this linerate doesn't know would be lost without a word.
// The version is looked at first, so that a newer document is called that and not full of unknown members.
func decode(document []byte, version string, into any) error {
	var head struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(document, &head); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if head.Version != version {
		return fmt.Errorf("version is %q, and this linerate reads %q: operator and runner must be of one release", head.Version, version)
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	return nil
}
