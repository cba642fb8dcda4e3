package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// What the tokens of an attempt are for: each purpose has its own.
const (
	tokenOfCollector = "collector" // the runner shows it to read what the collector was answered
	tokenOfReset     = "reset"     // the runner shows it to have the device reset
	tokenOfTunnel    = "tunnel"    // the gateways recognize each other by it; it encrypts nothing
)

// token is an attempt's token for one purpose. It follows from the test's UID, so whoever may read the test, its pods or one of its Reports knows it: it keeps other tests out, and nobody else.
func token(in Input, purpose string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s of attempt %d of test %s", purpose, in.Attempt, in.Test.UID))
	return hex.EncodeToString(sum[:16])
}
