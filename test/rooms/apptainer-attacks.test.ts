import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apptainerBy, NOBODY } from '../../src/runtimes/apptainer/apptainer.fixture.ts'
import { requireTool } from '../../src/testing/require.ts'
import { type Attacked, addSystem, attackSuite, whyNoAttacks } from './docker-attack-suite.ts'
import { busyboxRootfs } from './docker-image.ts'

const absent = ['apptainer', 'busybox'].map(requireTool).find(({ present }) => !present)
const why = process.getuid?.() === 0 ? absent?.reason : 'only root can attack as somebody else'

async function start(): Promise<Attacked> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-apptainer-')))
  chmodSync(folder, 0o755)
  const image = busyboxRootfs(folder, requireTool('busybox').command as string)
  addSystem(image)
  const images = { pull: 'never', maxBytes: 1 << 30, image } as const
  const by = apptainerBy({ way: 'spawner', useGroups: true }, { images, imageFolders: [folder] })
  const close = async (): Promise<void> => {
    await by.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { runtime: by.runtime, uid: NOBODY.uid, launcher: by.name, close }
}

const OTHERWISE = {
  // What starts the command is a program of many threads, which ends when it can have no more of them.
  'fork-bomb-shell.sh': ['timeout', 'pid-limit'],
  // Its /dev/shm has no size of its own, and counts as memory.
  'shm-fill.c': 'out-of-memory',
  // Its /etc/passwd is a copy that goes with the container.
  'write-system.sh': 'through',
} as const

attackSuite({ name: 'Apptainer', why: why ?? whyNoAttacks(), start, otherwise: OTHERWISE })
