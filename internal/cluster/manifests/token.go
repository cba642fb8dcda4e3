package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

// key is the attempt's key, which only the runner has. It follows from the operator's own secret, so that a
// restarted operator makes the same pods and the same Plan.
func key(input Input) credential.Key {
	return input.Settings.Key.Derive(fmt.Sprintf("attempt %d of test %s", input.Attempt, input.Test.UID))
}

// withVerifier adds to a server's arguments that it answers only who has the attempt's key. Who reads the arguments
// learns nothing that would be of use.
func withVerifier(input Input, arguments ...string) []string {
	return append(arguments, "--verifier="+key(input).Verifier().String())
}

// tunnelToken is by what the gateways of a tunnel recognize each other. It follows from the test's UID, so whoever may
// read the test, its pods or one of its Reports knows it. The token keeps other tests out, and nobody else. It encrypts
// nothing.
func tunnelToken(input Input) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "tunnel of attempt %d of test %s", input.Attempt, input.Test.UID))
	return hex.EncodeToString(sum[:16])
}
