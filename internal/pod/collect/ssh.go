package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The keys of a Secret that is shown over SSH, besides a user and perhaps a password. kubernetes.io/ssh-auth uses the
// first, and ssh-keyscan writes the second.
const (
	keyPrivateKey = "ssh-privatekey"
	keyKnownHosts = "known_hosts"
)

// mostPrinted is more than a number has, in bytes.
const mostPrinted = 4 << 10

// sshCommand is a command on a machine whose key is known.
type sshCommand struct {
	command plan.SSHCommand
	secret  secret
	config  *ssh.ClientConfig
	// idle is how long a connection is kept that isn't used.
	idle  time.Duration
	shell *shell
}

// shell is a connection that is kept from one reading to the next, as a small device takes long to make one. It ends by
// itself when it is no longer used.
type shell struct {
	client *ssh.Client
	conn   net.Conn
}

func newSSH(c plan.SSHCommand, interval time.Duration, s secret, kept *shell) (source, error) {
	values, err := s.values(keyUser, keyPrivateKey, keyPassword, keyKnownHosts)
	if err != nil {
		return nil, err
	}
	config := &ssh.ClientConfig{User: values[keyUser], Timeout: answerTime}
	switch {
	case values[keyUser] == "":
		return nil, fmt.Errorf("secret %s has no key %s", s.name, keyUser)
	case values[keyKnownHosts] == "":
		return nil, fmt.Errorf("secret %s has no key %s, without which anybody could answer: put there what ssh-keyscan "+
			"%s prints, after comparing it with the key on the machine", s.name, keyKnownHosts, c.Address)
	case values[keyPrivateKey] != "":
		signer, err := ssh.ParsePrivateKey([]byte(values[keyPrivateKey] + "\n"))
		if err != nil {
			return nil, fmt.Errorf("secret %s: %s: %w: give a key without a passphrase, for this command alone", s.name,
				keyPrivateKey, err)
		}
		config.Auth = append(config.Auth, ssh.PublicKeys(signer))
	case values[keyPassword] != "":
		config.Auth = append(config.Auth, ssh.Password(values[keyPassword]))
	default:
		return nil, fmt.Errorf("secret %s has neither %s nor %s", s.name, keyPrivateKey, keyPassword)
	}
	if config.HostKeyCallback, err = knownhosts.New(filepath.Join(s.folder, keyKnownHosts)); err != nil {
		return nil, fmt.Errorf("secret %s: %w", s.name, err)
	}
	if config.HostKeyAlgorithms = algorithmsOf(config.HostKeyCallback, c.Address); config.HostKeyAlgorithms == nil {
		return nil, fmt.Errorf("secret %s: %s has no key of %s: add the line that ssh-keyscan prints for it", s.name,
			keyKnownHosts, c.Address)
	}
	return sshCommand{command: c, secret: s, config: config, idle: 2*interval + answerTime, shell: kept}, nil
}

// noKey is a key that no machine has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

// algorithmsOf are those of the keys that are known of an address. A machine has several keys, and shows the one that
// it is asked for.
func algorithmsOf(check ssh.HostKeyCallback, address string) (algorithms []string) {
	known, ok := errors.AsType[*knownhosts.KeyError](check(address, &net.TCPAddr{IP: net.IPv4zero}, noKey{}))
	if !ok {
		return nil
	}
	for _, k := range known.Want {
		if kind := k.Key.Type(); kind == ssh.KeyAlgoRSA {
			algorithms = append(algorithms, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512)
		} else if !slices.Contains(algorithms, kind) {
			algorithms = append(algorithms, kind)
		}
	}
	return algorithms
}

func (c sshCommand) ask(ctx context.Context) (reading, error) {
	printed, err := c.run(ctx)
	if err != nil {
		return reading{}, err
	}
	number, err := numberIn(printed)
	if err != nil {
		return reading{}, err
	}
	return reading{numbers: []observe.Number{{Name: "value", Unit: c.command.Unit, Kind: report.Gauge,
		Value: number}}}, nil
}

// numberIn is the one number that a program printed.
func numberIn(printed string) (float64, error) {
	text := strings.TrimSpace(printed)
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("it printed %q, which isn't one number: let the command print the number alone",
			wording.Limited(wording.Printable(text), 60))
	}
	return number, nil
}

// run runs the command, over the connection of the reading before where that still works.
func (c sshCommand) run(ctx context.Context) (printed string, err error) {
	if c.shell.client != nil {
		printed, err = c.runIn(ctx)
		if _, exited := errors.AsType[*ssh.ExitError](err); err == nil || exited || ctx.Err() != nil {
			return printed, err
		}
	}
	if err := c.connect(ctx); err != nil {
		return "", err
	}
	return c.runIn(ctx)
}

func (c sshCommand) connect(ctx context.Context) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.command.Address)
	if err != nil {
		return plainly(err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	made, channels, requests, err := ssh.NewClientConn(conn, c.command.Address, c.config)
	if err != nil {
		return errors.Join(c.refused(err), conn.Close())
	}
	*c.shell = shell{ssh.NewClient(made, channels, requests), conn}
	return nil
}

// refused is why no session was made, in words that say what to do.
func (c sshCommand) refused(err error) error {
	known, ok := errors.AsType[*knownhosts.KeyError](err)
	switch {
	case ok && len(known.Want) > 0:
		return fmt.Errorf("its key is another than the one in %s of secret %s: either the machine was installed anew, or "+
			"another machine answers", keyKnownHosts, c.secret.name)
	case ok:
		return fmt.Errorf("%s of secret %s has no key of it", keyKnownHosts, c.secret.name)
	case strings.Contains(err.Error(), "unable to authenticate"):
		return fmt.Errorf("it doesn't take user %s with what secret %s has", c.config.User, c.secret.name)
	case strings.Contains(err.Error(), "no common algorithm for host key"):
		return fmt.Errorf("it has no key of the kinds in %s of secret %s (%s)", keyKnownHosts, c.secret.name,
			strings.Join(c.config.HostKeyAlgorithms, ", "))
	}
	return err
}

// runIn runs the command over the connection that there is. A connection that can't carry it is given up.
func (c sshCommand) runIn(ctx context.Context) (string, error) {
	kept := *c.shell
	giveUp := func(err error) (string, error) {
		*c.shell = shell{}
		_ = kept.client.Close()
		return "", err
	}
	if err := kept.conn.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return giveUp(err)
	}
	ended := context.AfterFunc(ctx, func() { _ = kept.conn.Close() })
	defer ended()
	session, err := kept.client.NewSession()
	if err != nil {
		return giveUp(err)
	}
	defer func() { _ = session.Close() }()
	stdout, stderr := &printedText{}, &printedText{}
	session.Stdout, session.Stderr = stdout, stderr
	err = session.Run(c.command.Command)
	if exit, ok := errors.AsType[*ssh.ExitError](err); ok {
		return "", fmt.Errorf("the command ended with code %d: %s: %w", exit.ExitStatus(),
			wording.Limited(wording.Printable(strings.TrimSpace(stderr.String())), 120), err)
	}
	if err != nil {
		return giveUp(err)
	}
	return stdout.String(), nil
}

// printedText is the beginning of what a command prints.
type printedText struct{ bytes.Buffer }

// Write keeps up to mostPrinted bytes, and never fails.
func (p *printedText) Write(text []byte) (int, error) {
	p.Buffer.Write(text[:min(len(text), mostPrinted-p.Len())])
	return len(text), nil
}
