import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { TASK_MOVES } from '../../scheduler/model/task-machine.ts'
import { ARROWS, GROUND } from '../tidy/reach.ts'
import { foldersPicture } from './folders-picture.ts'
import { taskPicture } from './task-picture.ts'

const FOLDER = resolve(import.meta.dirname, '../../../docs/pictures')
/** `app` imports almost every folder; the picture shows the three that describe the program. */
const APP = { app: ['doors', 'worker', 'client'] }

/** The pictures of ARCHITECTURE.md by file name, drawn from the tables that they show. */
export const pictures = (): Readonly<Record<string, string>> => ({
  'folders.svg': foldersPicture({ ...ARROWS, ...APP }, GROUND),
  'task-life.svg': taskPicture(TASK_MOVES),
})

export const committedPicture = (name: string): string => readFileSync(resolve(FOLDER, name), 'utf8')

/** `npm run pictures` writes them. */
if (import.meta.main) for (const [name, text] of Object.entries(pictures())) writeFileSync(resolve(FOLDER, name), text)
