//go:build tools

// Package tools names the command that is built from this module, so that its checksums are kept.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
