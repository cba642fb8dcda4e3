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
		"; auto is /run/linerate/secret of root's, and $XDG_RUNTIME_DIR/linerate/secret of others'")
}

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
		err = errors.New("the key is empty of randomness")
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

// guardedBy is the verifier of a server that people start by hand. It is the flag's, or that of the secret in a file.
func guardedBy(stderr io.Writer, v credential.Verifier, file, address string) (credential.Verifier, error) {
	if !v.IsZero() {
		return v, nil
	}
	if file == "" {
		pod.WarnOpen(stderr, v, address, "make this machine send", "--secret-file keeps others out")
		return v, nil
	}
	file, err := secretPath(file)
	var key credential.Key
	if err == nil {
		key, err = makeSecret(file)
	}
	if err != nil {
		return v, exit.BadInput("--secret-file: %w; --secret-file \"\" serves whoever calls", err)
	}
	fmt.Fprintf(stderr, "only who may read %s is served (--secret-file)\n", file)
	return key.Verifier(), nil
}

// dialServer connects to a running server, and proves the secret of the file if the server asks for it, as
// linerate generator does. It returns the key that it proved; zero: the server asked for none.
func dialServer(ctx context.Context, server, file string, o stl.Options) (*stl.Engine, credential.Key, error) {
	e, err := stl.Dial(ctx, server, o)
	if !errors.Is(err, credential.ErrAsked) {
		return e, credential.Key{}, err
	}
	var key credential.Key
	if file, err = secretPath(file); err == nil {
		key, err = readSecret(file)
	}
	if err != nil {
		return nil, credential.Key{}, fmt.Errorf("%s serves only who has its secret: %w; name the file that the "+
			"server was started with (--secret-file)", server, err)
	}
	o.Dial = key.Dialer(credential.Control)
	e, err = stl.Dial(ctx, server, o)
	return e, key, err
}
