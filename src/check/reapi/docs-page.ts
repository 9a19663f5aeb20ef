import { byService } from '../behaviour.ts'
import { needSays } from './probe/needs.ts'
import { BEHAVIOURS, type ReapiBehaviour } from './table/behaviours.ts'

/** The reference page of the suite: everything that is checked, in the words of the table. */
export function docsPage(): string {
  const musts = BEHAVIOURS.filter(({ level }) => level === 'must').length
  return `${[
    '# What `windlass check reapi` checks',
    '',
    `${BEHAVIOURS.length} behaviours of a Remote Execution API v2 server: ${musts} that a server must have, because the`,
    `specification says so, and ${BEHAVIOURS.length - musts} that it should have, because the specification advises it or`,
    'real clients depend on it. A behaviour that came with a later version of the API than the server speaks, or that',
    'needs something that the server does not advertise, is *not offered*: neither passed nor failed.',
    '',
    'How to run it is in [the guide](../guide/check-reapi.md). This page is made from the table in',
    '`src/check/reapi/table/`; `npx vitest run src/check/reapi -u` makes it again.',
    ...[...byService(BEHAVIOURS, ({ service }) => service)].flatMap(([service, rows]) => section(service, rows)),
  ].join('\n')}\n`
}

const section = (service: string, rows: readonly ReapiBehaviour[]): string[] => [
  '',
  `## ${service}`,
  '',
  '| id | behaviour | level | since | needs |',
  '|---|---|---|---|---|',
  ...rows.map(
    ({ id, sentence, note, level, since, needs }) =>
      `| \`${id}\` | ${sentence}${note === undefined ? '' : ` *${note}*`} | ${level} | ${since} | ${needs.map(needSays).join(', ')} |`,
  ),
]
