// SPDX-License-Identifier: Apache-2.0
// The man page, made from the subcommands themselves.
#include <CLI/CLI.hpp>

#include <string>

#include "cli/command.h"
#include "opscv/version.h"

namespace opscv::cli {
namespace {

// Text as troff takes it: no line begins with a control character, dashes stay dashes.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string OptionText(const CLI::Option& option) {
  const bool positional = option.get_positional() && option.get_lnames().empty();
  std::string name = positional ? option.get_name(true) : "--" + option.get_lnames().front();
  std::string text = fmt::format(".TP\n\\fB{}\\fR", Escaped(name));
  if (!positional && option.get_type_size_max() != 0 && option.get_items_expected_max() != 0) {
    text += fmt::format(" \\fI{}\\fR", Escaped(option.get_type_name()));
  }
  return text + fmt::format("\n{}{}\n", Escaped(option.get_description()),
                            option.get_required() ? " (required)" : "");
}

std::string OptionsText(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr()) text += OptionText(*option);
  }
  return text;
}

std::string SubcommandText(const CLI::App& sub) {
  std::string text =
      fmt::format(".SS opscv {}\n{}.\n", Escaped(sub.get_name()), Escaped(sub.get_description()));
  text += OptionsText(sub);
  for (const CLI::App* op : sub.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format(".PP\n\\fBopscv {} {}\\fR: {}.\n", Escaped(sub.get_name()),
                        Escaped(op->get_name()), Escaped(op->get_description()));
    text += OptionsText(*op);
  }
  return text;
}

constexpr const char* kBeginning = R"(.SH NAME
opscv \- resampling operators and their gradients on the CPU
.SH SYNOPSIS
.B opscv
.I SUBCOMMAND
.RI [ OPERATOR ]
.RI [ OPTION ...]
.SH DESCRIPTION
Runs resizing operators and their gradients on files, compares them with a float64 reference, and
tells how they are computed.
Operators go by their graph names, in upper or lower case; options are the operator's attributes, and
lists are written with commas: \-\-output_size 224,224.
)";

constexpr const char* kEnd = R"(.SH FILES
The ending of a name decides the format.
.TP
.B .npy
NumPy arrays of floats (f8, f4, f2, and bfloat16 as V2 with \-\-dtype bfloat16), integers and bools, in
C or Fortran order. Missing leading dimensions are taken to be 1.
.TP
.BR .png ", " .jpg ", " .jpeg
Images as (1, C, H, W) with values from 0 to 255, without gamma or colour profile; rounded and clamped
when written. An EXIF orientation is not obeyed: where a JPEG has one, run says so on stderr.
Gradients are neither read from nor written to images.
.TP
.BR .nii ", " .nii.gz
NIfTI\-1 and NIfTI\-2 volumes, x being W, y being H, z being D; operators on images take every slice.
Slope and intercept are applied; integers that are only copied keep them in the header.
Spacing, sform and qform of an output are those of the input resampled, so that the volume covers the
same space. Header extensions are not copied.
.TP
.B .json
A graph: inputs, nodes with their attributes, and outputs, each by a name of its own.
.PP
A file larger than the memory in use (\-\-memory) passes through in parts, with the same bits; a
graph's tensors are held in memory as a whole.
An output appears under its name only when it is complete, the outputs of a graph when all are; where
the name is a link, the file that it leads to is written.
.SH EXIT STATUS
.TP
.B 0
success
.TP
.B 1
a check failed: a bound or a tolerance is broken
.TP
.B 2
the command line cannot be read: a word or number that an option does not take, or an output whose name
ends like no known format
.TP
.B 3
bad input: a file, or values of attributes that the operator refuses for it
.TP
.B 4
an output cannot be written, or memory is short
.TP
.B 130
interrupted; what was not complete is gone
.SH ENVIRONMENT
.TP
.B OPSCV_THREADS
threads that compute where \-\-threads is not given
.TP
.B OPSCV_TARGET
the SIMD target to use, one of those that opscv targets lists
.SH EXAMPLES
.nf
opscv run UpsampleBicubic2dAA \-\-input photo.png \-\-output small.png \-\-output_size 224,224
opscv run UpsampleNearestExact3d \-\-input scan.nii.gz \-\-output fine.nii.gz \-\-spacing 1,1,1
opscv graph run pair.json \-\-input photo=photo.png \-\-output small=small.png
opscv check UpsampleBicubic2dAAGrad \-\-input g.npy \-\-output_size 224,224 \-\-input_size 1,3,512,512
.fi
)";

}  // namespace

void PrintManPage(const CLI::App& app) {
  std::string text =
      fmt::format(".TH OPSCV 1 \"\" \"opscv {}\" \"User commands\"\n{}", Version(), kBeginning);
  text += ".SH SUBCOMMANDS\n";
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += SubcommandText(*sub);
  }
  text += kEnd;
  WriteOut(text);
}

}  // namespace opscv::cli
