package deviceplugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/deviceplugin"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

const (
	west        = "linerate.dev/sriov-west"
	bothHealthy = "0000:03:02.0 Healthy numa 1; 0000:03:02.1 Healthy numa -"
	oneHealthy  = "0000:03:02.0 Healthy numa 1; 0000:03:02.1 Unhealthy numa -"
)

func TestRegistration(t *testing.T) {
	t.Run("each resource registers with a kubelet that is there", func(t *testing.T) {
		s := newSite(t)
		k := startKubelet(t, s.sockets, nil)
		s.run(west, "linerate.dev/sriov-east")
		sockets := map[string]string{}
		for range 2 {
			p := k.plugin()
			sockets[p.request.GetResourceName()] = p.request.GetVersion()
		}
		if diff := cmp.Diff(map[string]string{west: "v1beta1", "linerate.dev/sriov-east": "v1beta1"},
			sockets); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("a kubelet that comes later is found", func(t *testing.T) {
		s := newSite(t)
		s.run(west)
		k := startKubelet(t, s.sockets, nil)
		if devices := k.plugin().watch()(); devices != bothHealthy {
			t.Errorf("devices: %s", devices)
		}
	})
	t.Run("a kubelet that started anew is registered with again", func(t *testing.T) {
		s := newSite(t)
		first := startKubelet(t, s.sockets, nil)
		s.run(west)
		first.plugin()
		first.server.Stop()
		second := startKubelet(t, s.sockets, nil)
		if devices := second.plugin().watch()(); devices != bothHealthy {
			t.Errorf("devices: %s", devices)
		}
	})
	t.Run("a kubelet that refuses is asked again", func(t *testing.T) {
		s := newSite(t)
		k := startKubelet(t, s.sockets, errors.New("not today"))
		s.run(west)
		for range 2 {
			select {
			case <-k.registered:
			case <-time.After(patience):
				t.Fatal("it wasn't asked again")
			}
		}
	})
	t.Run("a removed socket of ours is made again", func(t *testing.T) {
		s := newSite(t)
		k := startKubelet(t, s.sockets, nil)
		s.run(west)
		if err := os.Remove(filepath.Join(s.sockets, k.plugin().request.GetEndpoint())); err != nil {
			t.Fatal(err)
		}
		if devices := k.plugin().watch()(); devices != bothHealthy {
			t.Errorf("devices: %s", devices)
		}
	})
}

func TestHealth(t *testing.T) {
	t.Run("a lost function is unhealthy, and healthy when it is there again", func(t *testing.T) {
		s := newSite(t)
		k := startKubelet(t, s.sockets, nil)
		s.run(west)
		next := k.plugin().watch()
		for _, step := range []struct {
			lost bool
			want string
		}{{false, bothHealthy}, {true, oneHealthy}, {false, bothHealthy}} {
			s.lose("0000:03:02.1", step.lost)
			if devices := next(); devices != step.want {
				t.Fatalf("devices: %s, want %s", devices, step.want)
			}
		}
	})
	t.Run("a lost function is mended where that is asked for", func(t *testing.T) {
		s := newSite(t)
		listed := make(chan struct{}) // what is mended before it was told of would be told of as healthy only
		s.mend = func(d vf.Device) error {
			select {
			case <-listed:
			case <-t.Context().Done():
			}
			s.lose(d.ID, false)
			return nil
		}
		k := startKubelet(t, s.sockets, nil)
		s.run(west)
		next := k.plugin().watch()
		devices := []string{next()}
		s.lose("0000:03:02.1", true)
		devices = append(devices, next())
		close(listed)
		devices = append(devices, next())
		if diff := cmp.Diff([]string{bothHealthy, oneHealthy, bothHealthy}, devices); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestAllocate(t *testing.T) {
	s := newSite(t)
	k := startKubelet(t, s.sockets, nil)
	stop := s.run(west)
	p := k.plugin()
	allocate := func(ids ...string) (*pluginapi.AllocateResponse, error) {
		requests := []*pluginapi.ContainerAllocateRequest{{DevicesIds: ids}}
		return p.Allocate(t.Context(), &pluginapi.AllocateRequest{ContainerRequests: requests})
	}
	t.Run("the container finds its devices in its environment", func(t *testing.T) {
		response, err := allocate("0000:03:02.1", "0000:03:02.0")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"PCIDEVICE_LINERATE_DEV_SRIOV_WEST":      "0000:03:02.1,0000:03:02.0",
			"PCIDEVICE_LINERATE_DEV_SRIOV_WEST_INFO": `{"0000:03:02.0":{"generic":{"deviceID":"0000:03:02.0"}},"0000:03:02.1":{"generic":{"deviceID":"0000:03:02.1"}}}`,
		}
		if diff := cmp.Diff(want, response.GetContainerResponses()[0].GetEnvs()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("Multus finds the device's information", func(t *testing.T) {
		for device, want := range map[string]string{
			"0000:03:02.0": `{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:03:02.0"}}`,
			// it shares its port
			"0000:03:02.1": `{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:03:02.1","pf-pci-address":"0000:03:00.0"}}`,
		} {
			text, err := os.ReadFile(filepath.Join(s.info, "linerate.dev-sriov-west-"+device+"-device.json"))
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != want {
				t.Errorf("device-info %s", text)
			}
		}
	})
	t.Run("a device that there isn't is refused by name", func(t *testing.T) {
		if _, err := allocate("0000:99:02.0"); err == nil ||
			!strings.Contains(err.Error(), "there is no device 0000:99:02.0") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("nothing is left when it ends", func(t *testing.T) {
		stop()
		for dir, want := range map[string]int{s.info: 0, s.sockets: 1} { // kubelet's own
			if files, err := os.ReadDir(dir); err != nil || len(files) != want {
				t.Errorf("left in %s: %v %v", dir, files, err)
			}
		}
	})
}

func TestRunRefuses(t *testing.T) {
	plugged := func(vf.Device) (bool, error) { return true, nil }
	for name, o := range map[string]deviceplugin.Options{
		"an inventory that can't be": {Inventory: vf.Inventory{Resources: []vf.Resource{{Name: "west"}}},
			Plugged: plugged},
		"no way to see devices": {},
	} {
		t.Run(name, func(t *testing.T) {
			if deviceplugin.Run(t.Context(), o) == nil {
				t.Error("no error")
			}
		})
	}
}

// site is a node's directories, and which of its functions are lost.
type site struct {
	t             *testing.T
	sockets, info string
	mend          func(vf.Device) error
	mu            sync.Mutex
	lost          map[string]bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	sockets, err := os.MkdirTemp("", "dp-") //nolint:usetesting // a socket's path must be short, and TempDir's is not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	return &site{t: t, sockets: sockets, info: t.TempDir(), lost: map[string]bool{}}
}

func (s *site) lose(id string, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost[id] = lost
}

// run runs the plugin until stop, or the test's end.
func (s *site) run(resources ...string) (stop func()) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- deviceplugin.Run(ctx, deviceplugin.Options{
			Inventory: inventory(resources...), SocketDir: s.sockets, DevInfoDir: s.info,
			Interval: 5 * time.Millisecond, Mend: s.mend,
			Plugged: func(d vf.Device) (bool, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return !s.lost[d.ID], nil
			},
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}

func inventory(resources ...string) vf.Inventory {
	var i vf.Inventory
	for n, name := range resources {
		r := vf.Resource{Name: name}
		for k, numa := range []int{1, -1} {
			r.Devices = append(r.Devices, vf.Device{
				ID: fmt.Sprintf("0000:%02x:02.%d", 3+n, k), PF: fmt.Sprintf("0000:%02x:00.0", 3+n),
				Interface: fmt.Sprintf("p%dv%d", n, k), SharesPort: k == 1,
				NUMA: numa, MAC: fmt.Sprintf("02:00:00:00:%02x:%02x", n, k), MTU: 1500, Wire: vf.Wire{Bridge: "wire",
					Namespace: 1},
			})
		}
		i.Resources = append(i.Resources, r)
	}
	return i
}
