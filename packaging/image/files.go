// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// files is a layer as it is written. Each file is of root, and has no time.
type files struct {
	to   *tar.Writer
	made map[string]bool // directories
}

// filesOf returns the files of an image as a tar: those of a directory of programs, and what they read.
func filesOf(dir string) ([]byte, error) {
	var layer bytes.Buffer
	f := files{to: tar.NewWriter(&layer), made: map[string]bool{".": true}}
	err := errors.Join(f.addPrograms(dir), f.addRoots(), f.addZones(), f.addState(), f.to.Close())
	return layer.Bytes(), err
}

// add adds a file, and the directories above it.
func (f files) add(name string, mode int64, text []byte) error {
	if err := f.addDirectory(path.Dir(name)); err != nil {
		return err
	}
	if err := f.to.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err := f.to.Write(text)
	return err
}

func (f files) addDirectory(name string) error {
	if f.made[name] {
		return nil
	}
	f.made[name] = true
	if err := f.addDirectory(path.Dir(name)); err != nil {
		return err
	}
	return f.to.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755})
}

func (f files) addPrograms(dir string) error {
	for _, name := range programs {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := f.add("usr/bin/"+name, 0o755, text); err != nil {
			return err
		}
	}
	return nil
}

// addRoots adds the certificates of Mozilla's list, where Go looks for them. A file cannot hold the
// conditions under which some of them are to be trusted, so those are not in it.
func (f files) addRoots() error {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return err
		}
	}
	return f.add("etc/ssl/certs/ca-certificates.crt", 0o644, text.Bytes())
}

// addZones adds the time zones that come with Go, where Go looks for them.
func (f files) addZones() error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	zones, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return err
	}
	defer zones.Close()
	for _, zone := range zones.File {
		if strings.HasSuffix(zone.Name, "/") {
			continue
		}
		from, err := zone.Open()
		if err != nil {
			return err
		}
		text, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		if err := f.add("usr/share/zoneinfo/"+zone.Name, 0o644, text); err != nil {
			return err
		}
	}
	return nil
}

// addState adds the directory in which a process keeps what outlives it.
func (f files) addState() error {
	if err := f.addDirectory(path.Dir(state)); err != nil {
		return err
	}
	return f.to.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: state + "/", Mode: 0o750, Uid: user, Gid: user})
}
