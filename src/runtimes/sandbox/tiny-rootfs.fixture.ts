import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A root file system with a shell, `cat` and their libraries, and nothing else. */
export function tinyRootfs(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-rootfs-')))
  chmodSync(path, 0o755)
  for (const name of ['system/bin', 'etc', 'tmp']) mkdirSync(join(path, name), { recursive: true })
  symlinkSync('system/bin', join(path, 'bin'))
  for (const program of ['/bin/sh', '/bin/cat']) {
    copyFileSync(program, join(path, 'system', program))
    const needed = spawnSync('ldd', [program], { encoding: 'utf8' }).stdout.match(/\/\S+/g) ?? []
    for (const library of needed) {
      mkdirSync(join(path, dirname(library)), { recursive: true })
      copyFileSync(library, join(path, library))
    }
  }
  writeFileSync(join(path, 'etc/motd'), 'another system\n')
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
