package collect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// The bounds of an answer over HTTP, in bytes.
const (
	mostAnswer = 4 << 20
	mostHeader = 64 << 10
)

// ofAnswers are the limits of what an answer is decoded into, of which 16 series or 64 sensors are followed.
var ofAnswers = intake.Limits{Bytes: mostAnswer, Memory: 64 << 20, Elements: 16 << 10, Depth: 32}

// The keys of a Secret that is shown over HTTP. They have the names that kubernetes.io/basic-auth and
// kubernetes.io/tls use.
const (
	keyUser      = "username"
	keyPassword  = "password"
	keyToken     = "token"
	keyAuthority = "ca.crt"
	// A certificate that isn't for the address is accepted by the name that it is for, or by its SHA-256, whoever
	// signed it.
	keyServerName  = "serverName"
	keyFingerprint = "fingerprint"
)

// web shows credentials over HTTP, checks certificates, and bounds answers. It follows no redirection, since
// the credentials are for the named server alone.
type web struct {
	transport *http.Transport
	secret    secret
	values    map[string]string
}

// newWeb is a client that shows a secret's credentials. The caller ends its connections after each reading,
// which may be several requests.
func newWeb(s secret) (*http.Client, error) {
	values, err := s.values(keyUser, keyPassword, keyToken, keyAuthority, keyServerName, keyFingerprint)
	if err != nil {
		return nil, err
	}
	if s.name != "" && !slices.ContainsFunc([]string{keyUser, keyPassword, keyToken, keyAuthority, keyFingerprint},
		func(key string) bool { return values[key] != "" }) {
		return nil, fmt.Errorf("secret %s has none of the keys %s and %s, %s, %s, %s", s.name, keyUser, keyPassword,
			keyToken, keyAuthority, keyFingerprint)
	}
	transport := &http.Transport{DialContext: (&net.Dialer{Timeout: answerTime}).DialContext,
		MaxResponseHeaderBytes: mostHeader, Proxy: http.ProxyFromEnvironment}
	if transport.TLSClientConfig, err = trust(s, values); err != nil {
		return nil, err
	}
	return &http.Client{
		Transport:     &web{transport: transport, secret: s, values: values},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       answerTime,
	}, nil
}

// trust is which certificates are taken, by a secret.
func trust(s secret, values map[string]string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: values[keyServerName]}
	if authority := values[keyAuthority]; authority != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(authority)) {
			return nil, fmt.Errorf("secret %s: %s has no certificate in PEM", s.name, keyAuthority)
		}
	}
	if values[keyFingerprint] == "" {
		return c, nil
	}
	_, text, prefixed := strings.Cut(values[keyFingerprint], "=") // as openssl prints it
	if !prefixed {
		text = values[keyFingerprint]
	}
	want, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(text), ":", ""))
	if err != nil || len(want) != sha256.Size {
		return nil, fmt.Errorf("secret %s: %s is no SHA-256, which is 64 hexadecimal digits, with or without colons",
			s.name, keyFingerprint)
	}
	c.InsecureSkipVerify = true //nolint:gosec // the certificate itself is known
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if sum := sha256.Sum256(state.PeerCertificates[0].Raw); !bytes.Equal(sum[:], want) {
			return fmt.Errorf("its certificate is another than the one whose %s secret %s has: it is of SHA-256 %s",
				keyFingerprint, s.name, fingerprint(state.PeerCertificates[0]))
		}
		return nil
	}
	return c, nil
}

// fingerprint is a certificate's SHA-256, as controllers' pages and openssl show it.
func fingerprint(c *x509.Certificate) string {
	var parts []string
	for _, b := range sha256.Sum256(c.Raw) {
		parts = append(parts, fmt.Sprintf("%02X", b))
	}
	return strings.Join(parts, ":")
}

// otherName says of a certificate that isn't for the address what it is for, and how to take it.
func otherName(mismatch x509.HostnameError) error {
	names := slices.Clone(mismatch.Certificate.DNSNames)
	for _, ip := range mismatch.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	subject := "is for " + strings.Join(names, ", ")
	if len(names) == 0 {
		subject = "has no name that is checked, and the common name " + mismatch.Certificate.Subject.CommonName
	}
	return fmt.Errorf("its certificate isn't for %s: it %s. Put the name that it is for into the Secret as %s, or, "+
		"if the server's own page shows the SHA-256 %s, that as %s",
		mismatch.Host, oneLine(subject), keyServerName, fingerprint(mismatch.Certificate), keyFingerprint)
}

// RoundTrip shows the credentials. An answer that refuses them is an error that names their Secret.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	switch {
	case w.values[keyToken] != "":
		r.Header.Set("Authorization", "Bearer "+w.values[keyToken])
	case w.values[keyUser] != "" || w.values[keyPassword] != "":
		r.SetBasicAuth(w.values[keyUser], w.values[keyPassword])
	}
	answer, err := w.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if code := answer.StatusCode; code == http.StatusUnauthorized || code == http.StatusForbidden {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("%s: %s", answer.Status, w.secret.shown())
	}
	text, err := io.ReadAll(&boundedAnswer{ReadCloser: answer.Body, remaining: mostAnswer})
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	if err := intake.Check(text, nil, ofAnswers); err != nil { // the caller decodes it as JSON
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	return answer, nil
}

// CloseIdleConnections ends the connections that are no longer needed.
func (w *web) CloseIdleConnections() { w.transport.CloseIdleConnections() }

// boundedAnswer is an answer that ends with an error where it is too long.
type boundedAnswer struct {
	io.ReadCloser
	remaining int
}

func (b *boundedAnswer) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", mostAnswer)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

// plainly is an error of asking over HTTP without the address, which stands before it, and in words that stay the same.
func plainly(err error) error {
	request, overHTTP := errors.AsType[*url.Error](err)
	if overHTTP {
		err = request.Err
	}
	if mismatch, ok := errors.AsType[x509.HostnameError](err); ok {
		return otherName(mismatch)
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return errors.New("it speaks http, and not https: begin its url with http://")
	}
	if overHTTP && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF)) {
		return errors.New("it ended the connection without an answer: it may have been restarted, or want https " +
			"where url begins with http://")
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("its certificate isn't trusted: put who signed it into the Secret, as %s: %w", keyAuthority,
			err)
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", operation.Op, operation.Err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", answerTime)
	}
	return err
}

// seconds is a duration in a server's seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// mostLine is how much of a server's text is reported, in bytes.
const mostLine = 200

// oneLine is a server's text, short, on one line, and without what would drive a terminal or turn text round.
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
