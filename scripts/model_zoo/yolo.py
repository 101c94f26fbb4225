"""A one-stage detector in the manner of YOLOv8n, with free image sizes: the grid of anchors is computed
from the shapes of the feature maps. One ends in boxes and scores, the other in NonMaxSuppression."""

import math

import numpy as np

from .builder import FLOAT, INT64, Builder, value

CLASSES = 80
BINS = 16


class YoloBuilder(Builder):
    def conv(self, x, name, channels_in, channels, size=1, stride=1, act=True):
        # The last convolutions make logits, which should stay in the sigmoid's middle.
        weight = self.normal(f"{name}.weight", (channels, channels_in, size, size),
                             math.sqrt((2.1 if act else 0.1) / (channels_in * size * size)))
        x = self.node("Conv", [x, weight, self.normal(f"{name}.bias", channels, 0.05)],
                      dilations=[1, 1], group=1, kernel_shape=[size, size],
                      pads=[size // 2] * 4, strides=[stride, stride])
        return self.node("Mul", [x, self.node("Sigmoid", [x])]) if act else x

    def split(self, x, sizes, axis):
        outputs = [f"Split_{len(self.nodes)}_{part}" for part in range(len(sizes))]
        self.multi_node("Split", [x, self.ints(sizes)], outputs, axis=axis)
        return outputs

    def c2f(self, x, name, channels_in, channels, repeats, shortcut):
        half = channels // 2
        parts = self.split(self.conv(x, f"{name}.cv1", channels_in, channels), [half, half], 1)
        for index in range(repeats):
            y = self.conv(parts[-1], f"{name}.m.{index}.cv1", half, half, 3)
            y = self.conv(y, f"{name}.m.{index}.cv2", half, half, 3)
            parts.append(self.node("Add", [parts[-1], y]) if shortcut else y)
        joined = self.node("Concat", parts, axis=1)
        return self.conv(joined, f"{name}.cv2", half * (2 + repeats), channels)

    def sppf(self, x, name, channels):
        parts = [self.conv(x, f"{name}.cv1", channels, channels // 2)]
        for _ in range(3):
            parts.append(self.node("MaxPool", [parts[-1]], ceil_mode=0, dilations=[1, 1],
                                   kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
        return self.conv(self.node("Concat", parts, axis=1), f"{name}.cv2", channels * 2, channels)

    def upsample(self, x):
        scales = self.weight(f"scales_{len(self.nodes)}", np.array([1, 1, 2, 2], np.float32))
        return self.node("Resize", [x, "", scales], coordinate_transformation_mode="asymmetric",
                         mode="nearest", nearest_mode="floor")

    def grid(self, feature):
        """Centres of a feature map's cells, [1, 2, cells], in cells."""
        shape = self.node("Shape", [feature])
        axes = []
        for axis in (2, 3):
            index = self.weight(f"axis_{len(self.nodes)}", np.array(axis, np.int64))
            size = self.node("Gather", [shape, index], axis=0)
            zero = self.weight(f"zero_{len(self.nodes)}", np.array(0, np.int64))
            one = self.weight(f"one_{len(self.nodes)}", np.array(1, np.int64))
            steps = self.node("Cast", [self.node("Range", [zero, size, one])], to=FLOAT)
            axes.append((self.node("Add", [steps, self.scalar(0.5)]),
                         self.node("Unsqueeze", [size, self.ints([0])])))
        (y, height), (x, width) = axes
        both = self.node("Concat", [height, width], axis=0)
        y = self.node("Expand", [self.node("Unsqueeze", [y, self.ints([1])]), both])
        x = self.node("Expand", [self.node("Unsqueeze", [x, self.ints([0])]), both])
        rows = [self.node("Reshape", [part, self.ints([1, 1, -1])]) for part in (x, y)]
        return self.node("Concat", rows, axis=1)


def backbone(b):
    x = b.conv("images", "model.0", 3, 16, 3, 2)
    x = b.c2f(b.conv(x, "model.1", 16, 32, 3, 2), "model.2", 32, 32, 1, True)
    p3 = b.c2f(b.conv(x, "model.3", 32, 64, 3, 2), "model.4", 64, 64, 2, True)
    p4 = b.c2f(b.conv(p3, "model.5", 64, 128, 3, 2), "model.6", 128, 128, 2, True)
    p5 = b.c2f(b.conv(p4, "model.7", 128, 256, 3, 2), "model.8", 256, 256, 1, True)
    p5 = b.sppf(p5, "model.9", 256)
    n4 = b.c2f(b.node("Concat", [b.upsample(p5), p4], axis=1), "model.12", 384, 128, 1, False)
    n3 = b.c2f(b.node("Concat", [b.upsample(n4), p3], axis=1), "model.15", 192, 64, 1, False)
    down = b.conv(n3, "model.16", 64, 64, 3, 2)
    n4 = b.c2f(b.node("Concat", [down, n4], axis=1), "model.18", 192, 128, 1, False)
    down = b.conv(n4, "model.19", 128, 128, 3, 2)
    n5 = b.c2f(b.node("Concat", [down, p5], axis=1), "model.21", 384, 256, 1, False)
    return [(n3, 64, 8.0), (n4, 128, 16.0), (n5, 256, 32.0)]


def head(b):
    """Boxes [batch, 4, anchors] as centre and size in pixels, scores [batch, classes, anchors]."""
    outputs, centres, strides = [], [], []
    for level, (feature, channels, stride) in enumerate(backbone(b)):
        branches = []
        for branch, middle, out in (("cv2", 64, 4 * BINS), ("cv3", 80, CLASSES)):
            name = f"model.22.{branch}.{level}"
            y = b.conv(feature, f"{name}.0", channels, middle, 3)
            y = b.conv(y, f"{name}.1", middle, middle, 3)
            branches.append(b.conv(y, f"{name}.2", middle, out, act=False))
        y = b.node("Concat", branches, axis=1)
        outputs.append(b.node("Reshape", [y, b.ints([0, 4 * BINS + CLASSES, -1])]))
        grid = b.grid(feature)
        centres.append(grid)
        first = b.node("Slice", [grid, b.ints([0]), b.ints([1]), b.ints([1])])
        strides.append(b.node("Add", [b.node("Mul", [first, b.scalar(0.0)]), b.scalar(stride)]))
    y = b.node("Concat", outputs, axis=2)
    centres = b.node("Concat", centres, axis=2)
    strides = b.node("Concat", strides, axis=2)
    distances, scores = b.split(y, [4 * BINS, CLASSES], 1)
    distances = b.node("Reshape", [distances, b.ints([0, 4, BINS, -1])])
    distances = b.node("Softmax", [b.node("Transpose", [distances], perm=[0, 2, 1, 3])], axis=1)
    bins = b.weight("dfl.weight", np.arange(BINS, dtype=np.float32).reshape(1, BINS, 1, 1))
    distances = b.node("Conv", [distances, bins], kernel_shape=[1, 1])
    distances = b.node("Reshape", [distances, b.ints([0, 4, -1])])
    low = b.node("Slice", [distances, b.ints([0]), b.ints([2]), b.ints([1])])
    high = b.node("Slice", [distances, b.ints([2]), b.ints([4]), b.ints([1])])
    low = b.node("Sub", [centres, low])
    high = b.node("Add", [centres, high])
    middle = b.node("Div", [b.node("Add", [low, high]), b.scalar(2.0)])
    size = b.node("Sub", [high, low])
    boxes = b.node("Mul", [b.node("Concat", [middle, size], axis=1), strides])
    return boxes, b.node("Sigmoid", [scores])


IMAGES = ["batch", 3, "height", "width"]


def yolo():
    b = YoloBuilder(seed=8)
    b.node("Concat", list(head(b)), "output0", axis=1)
    return b.model("yolo", [value("images", FLOAT, IMAGES)],
                   [value("output0", FLOAT, ["batch", 4 + CLASSES, "anchors"])])


def yolo_nms():
    """The same, then the best boxes of the whole batch: image and class, box, score."""
    b = YoloBuilder(seed=8)
    boxes, scores = head(b)
    boxes = b.node("Transpose", [boxes], perm=[0, 2, 1])
    limit = b.weight("max_output_boxes_per_class", np.array([5], np.int64))
    overlap = b.weight("iou_threshold", np.array([0.45], np.float32))
    least = b.weight("score_threshold", np.array([0.6], np.float32))
    chosen = b.node("NonMaxSuppression", [boxes, scores, limit, overlap, least], center_point_box=1)
    image = b.node("Slice", [chosen, b.ints([0]), b.ints([1]), b.ints([1])])
    place = b.node("Slice", [chosen, b.ints([2]), b.ints([3]), b.ints([1])])
    b.node("GatherND", [boxes, b.node("Concat", [image, place], axis=1)], "boxes")
    b.node("GatherND", [scores, chosen], "scores")
    b.node("Slice", [chosen, b.ints([0]), b.ints([2]), b.ints([1])], "image_and_class")
    return b.model("yolo_nms", [value("images", FLOAT, IMAGES)],
                   [value("image_and_class", INT64, ["found", 2]),
                    value("boxes", FLOAT, ["found", 4]), value("scores", FLOAT, ["found"])])
