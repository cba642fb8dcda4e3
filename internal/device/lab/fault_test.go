package lab

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
)

func TestFaultsAreSentencesForPeople(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		reason Reason
		words  string
	}{
		"no right": {fmt.Errorf("link west: %w", unix.EPERM), Permission,
			"the lab may not be built: link west: operation not permitted ("},
		"no veth": {fmt.Errorf("link west: lay a cable (veth): %w", unix.EOPNOTSUPP), Unsupported,
			"this kernel can't build the lab: link west: lay a cable (veth)"},
		"no limit": {fmt.Errorf("forwarder: %w: nftables: %w", forwarder.ErrUnsupported, unix.EOPNOTSUPP),
			Unsupported, "dut.reference.limit: forwarder: not supported by this kernel"},
		"anything else":  {errors.New("out of luck"), Failed, "build the lab: out of luck"},
		"a fault itself": {fmt.Errorf("wrapped: %w", badInput("link %s: no", "west")), BadInput, "link west: no"},
	} {
		t.Run(name, func(t *testing.T) {
			got := faultOf(c.err)
			if got.Reason != c.reason || !strings.HasPrefix(got.Sentence, c.words) {
				t.Errorf("got %s: %s", got.Reason, got.Sentence)
			}
		})
	}
}
