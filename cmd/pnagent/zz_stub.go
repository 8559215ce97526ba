package main
type demoCmd struct{}
type checkConfigCmd struct{}
