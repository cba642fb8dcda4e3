package datapath

import (
	"errors"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
)

// TestAFrameThatDoesNotFit: the refusal says whether the port's own MTU or the far end's is too small.
func TestAFrameThatDoesNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		port string
		want string
	}{
		"our own MTU": {"west", "its MTU is 1280: ip link set west mtu 1500"},
		"the far end's": {"east", "the far end of this virtual cable takes less, or is down: set it up, with an " +
			"MTU of at least 1500"},
	} {
		t.Run(name, func(t *testing.T) {
			enterNamespace(t)
			needKernel(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "west", NumTxQueues: 1,
				NumRxQueues: 1}, PeerName: "east"}), "CAP_NET_ADMIN and veth interfaces")
			setUp(t, "west")
			setUp(t, "east")
			l, err := netlink.LinkByName(c.port)
			noError(t, err)
			noError(t, netlink.LinkSetMTU(l, 1280))
			a := open(t, Options{Interface: "west"})
			noError(t, a.Inject([][]byte{frame(1290)}, 0))
			if err := a.Inject([][]byte{frame(1514)}, 0); !errors.Is(err, ErrTooLong) ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want …%s…", err, c.want)
			}
		})
	}
}
