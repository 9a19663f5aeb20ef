import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apptainerBy, NOBODY } from '../../src/runtimes/apptainer/apptainer.fixture.ts'
import { requireTool } from '../../src/testing/require.ts'
import { type Attacked, attackSuite, whyNoAttacks } from './attack-suite.ts'
import { addSystem, whyNoAttackedImage } from './attacked-image.ts'
import { busyboxRootfs } from './docker-image.ts'

function start(): Attacked {
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

attackSuite([
  {
    room: 'apptainer',
    how: 'as another user',
    why: whyNoAttacks('apptainer', 'busybox') ?? whyNoAttackedImage(),
    start,
  },
])
