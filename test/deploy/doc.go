// Package deploy tests what deploy/ has for operators: the unit, the image, and the files for containers.
package deploy
