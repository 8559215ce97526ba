// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"

	"github.com/goccy/go-yaml"
)

// group is the benchmarks of one package that are run together.
type group struct {
	Package string
	Pattern string // of go test -bench
	// OneProcessor keeps the benchmark and the processes that it starts on one
	// processor.
	OneProcessor bool `yaml:"one_processor"`
	Rows         []row
}

// row is one line of the table.
type row struct {
	What     string
	Name     string // of the benchmark, without "Benchmark"
	Unit     string // "" for ns/op
	Base     string // name of the base; "" for none
	BaseUnit string `yaml:"base_unit"` // "" for the same
	BaseIs   string `yaml:"base_is"`   // what the base is
	Goal     string
}

//go:embed benchmarks.yaml
var benchmarks []byte

// groups returns the benchmarks behind the promises of speed.
func groups() (all []group, err error) {
	err = yaml.NewDecoder(bytes.NewReader(benchmarks), yaml.Strict()).Decode(&all)
	return all, err
}
