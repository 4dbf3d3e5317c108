"""blender -b -P blender_back.py -- FILE.glb FPS BACK.glb FINDINGS.json: reads a file and writes it again."""
import sys

import bpy
import numpy

if not hasattr(numpy, "bool"):  # the importer of Blender 3.4 wants what numpy 1.24 took away
    numpy.bool = bool

file, fps, back, output = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = round(float(fps))
bpy.ops.import_scene.gltf(filepath=file)
bpy.ops.export_scene.gltf(filepath=back, export_frame_range=False)
with open(output, "w") as out:
    out.write("{}")
