package tunnel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/host/sanitize"
)

// ipsecInterface is the end of the tunnel that strongSwan's plugin kernel-libipsec makes, which encrypts in user space.
const ipsecInterface = "ipsec0"

// The files of one gateway, in a folder that is its own (serveIPsec).
const (
	ipsecFolder  = "/run"
	ipsecDaemon  = ipsecFolder + "/strongswan.conf"
	ipsecTunnel  = ipsecFolder + "/swanctl.conf"
	ipsecControl = ipsecFolder + "/charon.vici"
)

// The gateways speak on UDP port 4500 alone, IKE beside ESP. strongSwan also opens a port for IKE by itself, to
// which nothing comes here. Both ports are above 1023, so opening them takes no right.
const (
	ipsecPort  = 4500
	unusedPort = 10500
)

// ipsecOpens bounds how long charon may take until the tunnel is there.
const ipsecOpens = 20 * time.Second

// ipsecEnds bounds the wait for charon's end after swanctl failed, as charon's own words explain more.
const ipsecEnds = 100 * time.Millisecond

// proposals are the ciphers of ESP in strongSwan's words.
var proposals = map[string]string{
	plan.CipherAES128GCM: "aes128gcm16", plan.CipherAES256GCM: "aes256gcm16", plan.CipherChaCha20: "chacha20poly1305",
	plan.CipherAES256CBC: "aes256-sha256",
}

// daemonSettings are charon's. The plugin leads all that a child may carry into the tunnel, by a table that
// here comes after the main one, so that the gateway's own routes, and the network between the gateways, come
// first.
func daemonSettings() string {
	return fmt.Sprintf(`charon {
  port = %d
  port_nat_t = %d
  routing_table_prio = 40000
  load = random nonce aes sha2 hmac openssl kdf gcm chapoly kernel-libipsec kernel-netlink socket-default vici
  plugins {
    kernel-libipsec {
      allow_peer_ts = yes
    }
    vici {
      socket = unix://%s
    }
  }
  filelog {
    stderr {
      default = 1
    }
  }
  syslog {
    daemon {
      default = -1
    }
    auth {
      default = -1
    }
  }
}
`, unusedPort, ipsecPort, ipsecControl)
}

// tunnelSettings are the tunnel's, in swanctl's form. No keys are renewed while the tunnel is measured.
func (g Gateway) tunnelSettings() string {
	var s strings.Builder
	fmt.Fprintf(&s, "connections {\n  gateways {\n    version = 2\n    rekey_time = 0s\n    local_addrs = %[1]s\n    "+
		"local_port = %[3]d\n    remote_addrs = %[2]s\n    remote_port = %[3]d\n    proposals = "+
		"aes256gcm16-prfsha256-ecp256\n", g.Local, g.Peer.Addr(), ipsecPort)
	fmt.Fprintf(&s, "    local {\n      auth = psk\n      id = %s\n    }\n    remote {\n      auth = psk\n      id = "+
		"%s\n    }\n    children {\n", g.Local, g.Peer.Addr())
	for _, c := range g.children() {
		fmt.Fprintf(&s, "      %[1]s {\n        rekey_time = 0s\n        esp_proposals = %[2]s\n        local_ts = "+
			"%[3]s\n        remote_ts = %[3]s\n      }\n", c.name, proposals[g.Cipher], c.selector)
	}
	fmt.Fprintf(&s, "    }\n  }\n}\nsecrets {\n  ike-gateways {\n    secret = 0x%s\n  }\n}\n", g.Secret)
	return s.String()
}

// child is what one pair of security associations carries. These are all packets of a family, since the
// gateway's own routes decide what goes through the tunnel.
type child struct{ name, selector string }

// children are those of the families that both gateways have networks of.
func (g Gateway) children() (list []child) {
	hasFamily := func(networks []netip.Prefix, four bool) bool {
		return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Addr().Is4() == four })
	}
	if hasFamily(g.Behind, true) && hasFamily(g.Networks, true) {
		list = append(list, child{"ipv4", "0.0.0.0/0"})
	}
	if hasFamily(g.Behind, false) && hasFamily(g.Networks, false) {
		list = append(list, child{"ipv6", "::/0"})
	}
	return list
}

// FindIPsec finds strongSwan's programs, or says what lacks.
func FindIPsec() (charon, swanctl string, err error) {
	for _, path := range []string{"/usr/lib/ipsec/charon", "/usr/libexec/ipsec/charon"} {
		if _, err := os.Stat(path); err == nil {
			charon = path
		}
	}
	if charon == "" {
		return "", "", errors.New("this machine has no charon, strongSwan's daemon: install Debian's packages " +
			"strongswan-charon, strongswan-swanctl, libcharon-extra-plugins and libstrongswan-standard-plugins")
	}
	if swanctl, err = exec.LookPath("swanctl"); err != nil {
		return "", "", errors.New("this machine has no swanctl, which configures strongSwan: install Debian's " +
			"package strongswan-swanctl")
	}
	if plugins, _ := filepath.Glob(filepath.Dir(charon) +
		"/plugins/libstrongswan-kernel-libipsec.so"); len(plugins) == 0 {
		return "", "", errors.New("this machine's strongSwan has no plugin kernel-libipsec, which encrypts in user " +
			"space: install Debian's package libcharon-extra-plugins")
	}
	if plugins, _ := filepath.Glob(filepath.Dir(charon) + "/plugins/libstrongswan-openssl.so"); len(plugins) == 0 {
		return "", "", errors.New("this machine's strongSwan has no plugin openssl, which has the ciphers: install " +
			"Debian's package libstrongswan-standard-plugins")
	}
	return charon, swanctl, nil
}

// serveIPsec has strongSwan make the tunnel. One thread does all of the work. It has mounts of its own with an
// empty /run, where the gateway has its files, and charon its lock, apart from the other gateway's and the
// machine's.
func (g Gateway) serveIPsec(ctx context.Context, ready func() error) error {
	charon, swanctl, err := FindIPsec()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // for good, as its mounts are no other goroutine's, and charon ends with it
	if !g.InPod {
		if err := ownRun(); err != nil {
			return fmt.Errorf("make a /run of the gateway's own: %w", err)
		}
	}
	for file, text := range map[string]string{ipsecDaemon: daemonSettings(), ipsecTunnel: g.tunnelSettings()} {
		if err := outfile.Write(file, []byte(text), outfile.ForOwner); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	daemon := exec.Command(charon)
	daemon.Env = append(os.Environ(), "STRONGSWAN_CONF="+ipsecDaemon)
	words := &bounded.Words{}
	daemon.Stderr = io.MultiWriter(sanitize.NewWriter(os.Stderr, false), words) //nolint:forbidigo // the pod's log
	daemon.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := daemon.Start(); err != nil {
		return fmt.Errorf("start charon: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		_ = daemon.Wait() // its state says how it ended, and words are complete then
		ended <- fmt.Errorf("charon ended (%s); its last words: %s", daemon.ProcessState, words)
	}()
	if err := g.open(ctx, swanctl, ended); err != nil {
		_ = daemon.Process.Kill() // it may have ended, which err says then
		return err
	}
	if err := ready(); err != nil {
		return errors.Join(err, daemon.Process.Kill())
	}
	select {
	case <-ctx.Done():
		return daemon.Process.Kill()
	case err := <-ended:
		return err
	}
}

// ownRun gives the calling thread mounts of its own, and an empty /run.
func ownRun() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("tmpfs", ipsecFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755")
}

// open configures charon's tunnel, has the second gateway ask the first for it, and routes the networks behind
// the other gateway.
func (g Gateway) open(ctx context.Context, swanctl string, ended <-chan error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, ipsecOpens, fmt.Errorf("charon has no tunnel within %s", ipsecOpens))
	defer cancel()
	for {
		if _, err := os.Stat(ipsecControl); err == nil {
			break
		}
		select {
		case err := <-ended:
			return err
		default:
		}
		if err := bounded.Pause(ctx, 10*time.Millisecond); err != nil {
			return context.Cause(ctx)
		}
	}
	if err := runSwanctl(ctx, swanctl, ended, "--load-all", "--file", ipsecTunnel); err != nil {
		return err
	}
	if g.Asks {
		for _, c := range g.children() {
			if err := initiate(ctx, swanctl, ended, c); err != nil {
				return err
			}
		}
	}
	return g.route(ipsecInterface, plan.LargestOfIPsec)
}

// initiate asks the first gateway for a child until it agrees, or the time is up. The first gateway's charon
// refuses all proposals before its tunnel is configured.
func initiate(ctx context.Context, swanctl string, ended <-chan error, c child) error {
	for {
		err := runSwanctl(ctx, swanctl, ended, "--initiate", "--child", c.name, "--timeout", "10")
		if err == nil || !strings.Contains(err.Error(), "NO_PROPOSAL_CHOSEN") ||
			bounded.Pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// runSwanctl runs one of its commands.
func runSwanctl(ctx context.Context, swanctl string, ended <-chan error, arguments ...string) error {
	words := &bounded.Words{}
	cmd := exec.CommandContext(ctx, swanctl, append(arguments, "--uri", "unix://"+ipsecControl)...)
	cmd.Env = append(os.Environ(), "STRONGSWAN_CONF="+ipsecDaemon)
	cmd.Stdout, cmd.Stderr = words, words
	err := cmd.Run()
	if err == nil {
		return nil
	}
	failed := fmt.Errorf("swanctl %s: %w; its last words: %s", arguments[0], err, words)
	select {
	case died := <-ended:
		return errors.Join(died, failed)
	case <-time.After(ipsecEnds):
		return failed
	}
}
