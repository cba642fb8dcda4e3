package main

import (
	"encoding/base64"
	"fmt"
)

// kubeconfig is a client's file with everything in it.
func kubeconfig(server string, ca *authority, client identity) []byte {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: linerate
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: client
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: linerate
  context: {cluster: linerate, user: client}
current-context: linerate
`, server, b64(ca.pem), b64(client.certificate), b64(client.key))
}
