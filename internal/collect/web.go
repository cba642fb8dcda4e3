package collect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
)

// The bounds of an answer over HTTP, in bytes.
const (
	mostAnswer = 4 << 20
	mostHeader = 64 << 10
)

// The keys of a Secret that is shown over HTTP; those of type kubernetes.io/basic-auth and kubernetes.io/tls are called so.
const (
	keyUser      = "username"
	keyPassword  = "password"
	keyToken     = "token"
	keyAuthority = "ca.crt"
)

// web shows credentials over HTTP, checks certificates, follows no redirection, since credentials are for who was named, and reads no more than anybody needs.
type web struct {
	under  *http.Transport
	secret secret
	values map[string]string
}

// newWeb is a client that shows a secret's credentials. Who asks ends its connections after each question, of which one may be of several requests.
func newWeb(s secret) (*http.Client, error) {
	values, err := s.values(keyUser, keyPassword, keyToken, keyAuthority)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: answerTime}).DialContext, MaxResponseHeaderBytes: mostHeader, Proxy: http.ProxyFromEnvironment}
	if authority := values[keyAuthority]; authority != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(authority)) {
			return nil, fmt.Errorf("secret %s: %s has no certificate in PEM", s.name, keyAuthority)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Transport:     &web{under: transport, secret: s, values: values},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       answerTime,
	}, nil
}

// RoundTrip shows the credentials. An answer that refuses them is an error that names their Secret.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	switch {
	case w.values[keyToken] != "":
		r.Header.Set("Authorization", "Bearer "+w.values[keyToken])
	case w.values[keyUser] != "" || w.values[keyPassword] != "":
		r.SetBasicAuth(w.values[keyUser], w.values[keyPassword])
	case w.secret.name != "" && w.values[keyAuthority] == "":
		return nil, fmt.Errorf("secret %s has none of the keys %s and %s, %s, %s", w.secret.name, keyUser, keyPassword, keyToken, keyAuthority)
	}
	answer, err := w.under.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if code := answer.StatusCode; code == http.StatusUnauthorized || code == http.StatusForbidden {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("%s: %s", answer.Status, w.secret.shown())
	}
	answer.Body = &bounded{ReadCloser: answer.Body, left: mostAnswer}
	return answer, nil
}

// CloseIdleConnections ends the connections that are no longer needed.
func (w *web) CloseIdleConnections() { w.under.CloseIdleConnections() }

// bounded is an answer that ends with an error where it is longer than anybody needs.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", mostAnswer)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// plainly is an error of asking over HTTP without the address, which stands before it, and in words that stay the same.
func plainly(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("its certificate isn't trusted: put who signed it into the Secret, as %s: %w", keyAuthority, err)
	}
	if at, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", at.Op, at.Err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", answerTime)
	}
	return err
}

// seconds is a time that a server tells as seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// mostLine is how much of somebody else's text is told, in bytes.
const mostLine = 200

// oneLine is text of somebody else's, short, on one line, and without what would drive a terminal or turn text round.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))), " ")
	if len(text) <= mostLine {
		return text
	}
	return strings.ToValidUTF8(text[:mostLine], "") + "…"
}
