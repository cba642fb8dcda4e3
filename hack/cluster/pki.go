package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// lifetime is longer than any of these clusters should live.
const lifetime = 365 * 24 * time.Hour

// authority signs everybody's certificate.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// identity is a certificate with its key, both as PEM.
type identity struct{ certificate, key []byte }

// subject is who a certificate is for. Kubernetes takes the name for a user, and the organisation for the user's group.
type subject struct {
	name, group string
	addresses   []netip.Addr // of a server
	hosts       []string     // of a server
}

func newAuthority(now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(subject{name: "linerate-cluster"}, now)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key, pem: encode("CERTIFICATE", der)}, err
}

// save keeps the authority for nodes that join later.
func (a *authority) save(dir string) error {
	key, err := encodeKey(a.key)
	if err != nil {
		return err
	}
	return files(dir, map[string][]byte{"ca.key": key, "ca.crt": a.pem})
}

func loadAuthority(dir string) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("load the cluster's authority: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("load the cluster's authority: its key is a %T", pair.PrivateKey)
	}
	return &authority{certificate: pair.Leaf, key: key, pem: encode("CERTIFICATE", pair.Leaf.Raw)}, nil
}

func (a *authority) issue(s subject, now time.Time) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	template, err := newTemplate(s, now)
	if err != nil {
		return identity{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return identity{}, fmt.Errorf("certify %s: %w", s.name, err)
	}
	pemKey, err := encodeKey(key)
	return identity{certificate: encode("CERTIFICATE", der), key: pemKey}, err
}

func newTemplate(s subject, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	name := pkix.Name{CommonName: s.name}
	if s.group != "" {
		name.Organization = []string{s.group}
	}
	var addresses []net.IP
	for _, a := range s.addresses {
		addresses = append(addresses, a.AsSlice())
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: name, IPAddresses: addresses, DNSNames: s.hosts,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
	}, nil
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return encode("PRIVATE KEY", der), err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// newSigningKey makes the pair that signs service accounts' tokens: the private and the public half.
func newSigningKey() (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return identity{}, err
	}
	private, err := encodeKey(key)
	return identity{certificate: encode("PUBLIC KEY", der), key: private}, err
}

// files writes a directory of files that only root reads.
func files(dir string, contents map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
