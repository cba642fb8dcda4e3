package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func rootOfThisMachine(t *testing.T) fs.FS {
	t.Helper()
	return os.DirFS("/")
}

const statusText = `[{"name":"cbr0","interface":"eth0","ips":["10.0.0.5"],"default":true,"dns":{}},
{"name":"lab/sriov-west","interface":"west","mac":"02:00:00:00:00:aa","dns":{},
 "device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:3b:0a.0"}}}]`

func TestNetworksAreAwaited(t *testing.T) {
	t.Run("an empty file is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir, began := t.TempDir(), time.Now()
			write(t, dir, "status", "\n")
			time.AfterFunc(3*time.Second, func() { write(t, dir, "status", statusText) })
			networks, err := NetworkStatus{"/status", time.Minute}.Await(t.Context(), os.DirFS(dir))
			want := []Network{{Name: "cbr0", Interface: "eth0", Default: true}, onPCI("lab/sriov-west", "west",
				"0000:3b:0a.0")}
			if err != nil || !slices.Equal(networks, want) {
				t.Errorf("%+v, %v", networks, err)
			}
			if waited := time.Since(began); waited < 3*time.Second || waited > 3*time.Second+2*statusPoll {
				t.Errorf("waited %v for what came after 3s", waited)
			}
		})
	})
	for name, text := range map[string]string{"a file that stays empty": " ", "a file that never appears": ""} {
		t.Run(name+" is a fault", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				if text != "" {
					write(t, dir, "status", text)
				}
				_, err := NetworkStatus{"/status", time.Minute}.Await(t.Context(), os.DirFS(dir))
				if f, ok := errors.AsType[Fault](err); !ok || f.Code != NoNetworkStatus {
					t.Errorf("error %v", err)
				}
			})
		})
	}
	t.Run("who is stopped meanwhile learns that", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := NetworkStatus{"/status", time.Minute}.Await(ctx, os.DirFS(t.TempDir()))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		})
	})
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Error(err)
	}
}

func TestLinksFile(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"all fields", "- {name: west, network: lab/w, interface: net1, resource: a.b/c, address: 198.18.0.2/24, " +
			"gateway: 198.18.0.1, destinationMAC: '02:00:00:00:00:01', lineRateBitsPerSecond: 25000000000}", ""},
		{"an unknown field", "- {name: west, netwerk: lab/w}", `unknown field "netwerk"`},
		{"a name twice", "- {name: west}\n- {name: west}", "named twice"},
		{"no name", "- {network: w}", "no name"},
		{"a bad MAC", "- {name: west, destinationMAC: here}", `destinationMAC "here"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := ParseLinks([]byte(c.text))
			switch {
			case c.wrong == "" && (err != nil || parsed[0].Gateway.String() != "198.18.0.1" ||
				parsed[0].LineRate != 25_000_000_000):
				t.Errorf("%+v, %v", parsed, err)
			case c.wrong != "" && !contains(err, c.wrong):
				t.Errorf("error %v, want %q", err, c.wrong)
			}
		})
	}
}
