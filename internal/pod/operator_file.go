package pod

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// ReadFile reads a file of the operator's. With a digest (sha256:HEX) it refuses a file of another digest.
func ReadFile(file, digest string) ([]byte, error) {
	text, err := intake.TextFile(file, intake.Small.Bytes)
	if err != nil || digest == "" {
		return text, err
	}
	sum := sha256.Sum256(text)
	if found := "sha256:" + hex.EncodeToString(sum[:]); found != digest {
		return nil, fmt.Errorf("it isn't what the operator wrote: its digest is %s, and this program was "+
			"started for %s. "+
			"Somebody who may edit ConfigMaps of this namespace replaced the one whose name ends in -links. Run the "+
			"test again, and find out who did it", found, digest)
	}
	return text, nil
}

// ReadJSON reads a JSON document of the operator's, of this digest if it has one, and refuses members that this
// linerate doesn't know.
func ReadJSON(file, digest string, document any) error {
	text, err := ReadFile(file, digest)
	if err != nil {
		return err
	}
	return intake.StrictJSON(text, document, intake.Small)
}
