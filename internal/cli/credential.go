package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/engine/stl"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
)

// verifierFlag adds --verifier.
func verifierFlag(f *pflag.FlagSet, target *credential.Verifier) {
	f.TextVar(target, "verifier", credential.Verifier{},
		"answer only who proves that it has the key of this verifier, as the operator's runners do (none: whoever "+
			"calls)")
}

// secretFlag adds --secret-file. Its help begins with use.
func secretFlag(f *pflag.FlagSet, target *string, use string) {
	f.StringVar(target, "secret-file", autoSecret, use+
		"; auto is the secret in $"+secretVariable+", else /run/linerate/secret of root's, and "+
		"$XDG_RUNTIME_DIR/linerate/secret of others'")
}

// secretVariable is the environment variable that holds a secret itself, where no file does.
const secretVariable = "LINERATE_SECRET"

// secretOfEnvironment is the key in the environment, if --secret-file leaves the choice. It is zero if there is none.
func secretOfEnvironment(file string) (key credential.Key, err error) {
	text := os.Getenv(secretVariable)
	if file != autoSecret || text == "" {
		return key, nil
	}
	if err = key.UnmarshalText([]byte(strings.TrimSpace(text))); err == nil && key.IsZero() {
		err = errZeroKey
	}
	if err != nil {
		err = fmt.Errorf("$%s: %w; copy a server's secret file, or unset it", secretVariable, err)
	}
	return key, err
}

var errZeroKey = errors.New("the key is empty of randomness")

// secretOfServers is the help of --secret-file of clients.
const secretOfServers = "file with the secret of servers that run already and ask for it, as linerate generator does"

// autoSecret is the value of --secret-file by which servers and clients of one user find the same file.
const autoSecret = "auto"

// secretPath is the file that --secret-file names. It is an error if auto finds no folder of this user.
func secretPath(file string) (string, error) {
	folder := os.Getenv("XDG_RUNTIME_DIR")
	if os.Geteuid() == 0 {
		folder = "/run"
	}
	switch {
	case file != autoSecret:
		return file, nil
	case folder == "":
		return "", errors.New("this user has no folder of its own for a secret ($XDG_RUNTIME_DIR): name a file")
	}
	return filepath.Join(folder, "linerate", "secret"), nil
}

// maxSecretBytes is far more than a key has.
const maxSecretBytes = 256

// readSecret reads the key in a file that only its owner, root or this user, may read.
func readSecret(path string) (key credential.Key, err error) {
	// opening a pipe must not wait for its writer
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return key, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return key, err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.Mode().IsRegular():
		return key, fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o077 != 0:
		return key, fmt.Errorf("others may read or write %s: chmod 600 %s, after you have removed and made it anew "+
			"if they did", path, path)
	case owner != 0 && owner != uint32(os.Geteuid()):
		return key, fmt.Errorf("%s belongs to user %d, who could drive what it guards: name a file of your own", path,
			owner)
	}
	text, err := intake.Text(f, maxSecretBytes)
	if err == nil {
		err = key.UnmarshalText(bytes.TrimSpace(text))
	}
	if err == nil && key.IsZero() {
		err = errZeroKey
	}
	if err != nil {
		return credential.Key{}, fmt.Errorf("%s: %w; remove it, and the server makes a new one", path, err)
	}
	return key, nil
}

// makeSecret is readSecret of a server. It makes the file and its folder if they don't exist. The file appears
// with its whole content.
func makeSecret(path string) (credential.Key, error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return credential.Key{}, err
	}
	if _, err := os.Lstat(path); err == nil {
		return readSecret(path)
	}
	// The file's mode is 0600, and the link that gives it its name overwrites nothing.
	f, err := os.CreateTemp(folder, ".secret-") //nolint:forbidigo // see above
	if err != nil {
		return credential.Key{}, err
	}
	text, _ := credential.New().MarshalText() // never fails
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(f.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) { // another server was first
		err = nil
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return credential.Key{}, err
	}
	return readSecret(path)
}

// guardOptions say who may drive a server that people start by hand.
type guardOptions struct {
	verifier   credential.Verifier
	secretFile string
	// open serves whoever calls, also from other machines, where there is no secret.
	open bool
	// use is what callers can do.
	use string
}

// flags adds --secret-file, --open and --verifier.
func (o *guardOptions) flags(f *pflag.FlagSet) {
	secretFlag(f, &o.secretFile, "answer only who may read the secret in this file, which is made if there is none; "+
		"\"\" answers whoever calls")
	f.BoolVar(&o.open, "open", false, "with --secret-file \"\": answer callers from other machines, too, as TRex does")
	verifierFlag(f, &o.verifier)
}

// verify is the verifier of a server at an address. It is the flag's, or that of the secret in the environment or a
// file. A server without one that other machines reach is an error unless it is to be open.
func (o guardOptions) verify(stderr io.Writer, address string) (credential.Verifier, error) {
	if !o.verifier.IsZero() {
		return o.verifier, nil
	}
	if o.secretFile == "" {
		if !o.open && !pod.IsLoopback(address) {
			return o.verifier, exit.BadInput("--listen %s: whoever reaches it could %s: name a secret "+
				"(--secret-file), or add --open where nobody else reaches it", address, o.use)
		}
		pod.WarnOpen(stderr, o.verifier, address, o.use, "--secret-file keeps others out")
		return o.verifier, nil
	}
	key, err := secretOfEnvironment(o.secretFile)
	if err == nil && !key.IsZero() {
		fmt.Fprintf(stderr, "only who has the secret in $%s is served\n", secretVariable)
		return key.Verifier(), nil
	}
	file := o.secretFile
	if err == nil {
		file, err = secretPath(file)
	}
	if err == nil {
		key, err = makeSecret(file)
	}
	if err != nil {
		return o.verifier, exit.BadInput("--secret-file: %w; --secret-file \"\" serves whoever calls", err)
	}
	fmt.Fprintf(stderr, "only who may read %s is served (--secret-file)\n", file)
	return key.Verifier(), nil
}

// clientKey is the key in the environment, or in the file that --secret-file names.
func clientKey(file string) (key credential.Key, err error) {
	if key, err = secretOfEnvironment(file); err != nil || !key.IsZero() {
		return key, err
	}
	if file, err = secretPath(file); err != nil {
		return key, err
	}
	return readSecret(file)
}

// dialServer connects to a running server, and proves the secret of the file if the server asks for it, as
// linerate generator does. It returns the key that it proved; zero: the server asked for none.
func dialServer(ctx context.Context, server, file string, o stl.Options) (*stl.Engine, credential.Key, error) {
	e, err := stl.Dial(ctx, server, o)
	if !errors.Is(err, credential.ErrAsked) {
		return e, credential.Key{}, err
	}
	key, err := clientKey(file)
	if err != nil {
		return nil, credential.Key{}, fmt.Errorf("%s serves only who has its secret: %w; name the file that the "+
			"server was started with (--secret-file)", server, err)
	}
	o.Dial = key.Dialer(credential.Control)
	e, err = stl.Dial(ctx, server, o)
	return e, key, err
}
