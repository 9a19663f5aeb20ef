import { readFileSync } from 'node:fs'
import { aboutAttack } from './attack-programs.ts'
import { ATTACKED_ROOMS, ATTACKS, type Attack } from './attack-table.ts'

const BETWEEN = /(<!-- attacks: .*-->\n)[\s\S]*(<!-- end -->)/

/** The page with the table that it should have. */
export const pageWithAttacks = (path: string): string =>
  readFileSync(path, 'utf8').replace(BETWEEN, (_, start: string, end: string) => `${start}${table()}\n${end}`)

const table = (): string =>
  [
    `| part | attack | ${ATTACKED_ROOMS.join(' | ')} |`,
    `|---|---|${ATTACKED_ROOMS.map(() => '---').join('|')}|`,
    ...ATTACKS.map(rowOf),
  ].join('\n')

const rowOf = ({ file, part, expected }: Attack): string =>
  `| ${part} | \`${file}\` ${aboutAttack(file).replaceAll('|', '\\|')} | ${ATTACKED_ROOMS.map((each) => expected[each]).join(' | ')} |`
