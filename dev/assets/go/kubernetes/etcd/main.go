// etcd, as its own module starts it. A main of our own, because the program would be called "server" otherwise.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
