package launch

import (
	"context"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// Probe asks TRex's RPC (get_version, api_sync_v2) who it is. TRex opens its publisher's port early and the RPC
// last, so that only an answer means that it is ready.
func Probe(ctx context.Context, address string, timeout time.Duration, o trex.Options) (trex.Version, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := trex.Dial(ctx, address, o)
	if err != nil {
		return trex.Version{}, fmt.Errorf("probe the generator: %w", err)
	}
	return client.Version(), client.Close()
}
