/** buildbox-casd, which executes actions itself. */
import { startCasd } from '../../grid/peers/casd.ts'
import { type FoundGrid, gridOf } from './grid.ts'

export async function findCasdGrid(folder: string, slots: number): Promise<FoundGrid> {
  const casd = await startCasd(folder, slots)
  return 'absent' in casd ? casd : { grid: gridOf('buildbox-casd', casd.port, [casd.server]) }
}
