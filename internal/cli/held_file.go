package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// digestFlag is --FLAG-digest, of the file that --FLAG names.
func digestFlag(f *pflag.FlagSet, into *string, flag string) {
	f.StringVar(into, flag+"-digest", "", "read --"+flag+" only if this is its digest, as sha256:HEX, so that nobody replaced it since (none: whatever it is)")
}

// readHeld reads a file; with a digest only the file of that digest.
func readHeld(file, digest string) ([]byte, error) {
	text, err := intake.TextFile(file, intake.Small.Bytes)
	if err != nil || digest == "" {
		return text, err
	}
	sum := sha256.Sum256(text)
	if found := "sha256:" + hex.EncodeToString(sum[:]); found != digest {
		return nil, fmt.Errorf("it isn't what the operator wrote: its digest is %s, and this program was started for %s. "+
			"Somebody who may edit ConfigMaps of this namespace replaced the one whose name ends in -links. Run the test again, and find out who did it", found, digest)
	}
	return text, nil
}
